import { askApi } from "../../harness/api.ts";
import { git } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer, WITH_TOKENS } from "../../harness/shared-server.ts";
import { makeHistoryRepository } from "./history-pages.ts";
import { makeWalkedRepository } from "./pages.ts";
import type { WalkedPage } from "./walked-page.ts";

/** Servers that have all of `PAGES`. */
export interface WalkedServers {
  /** The absolute URL of a page. */
  readonly urlOf: (page: Pick<WalkedPage, "path" | "isLocked">) => string;
}

/** Makes what `PAGES` are about. */
export async function serveWalked(): Promise<WalkedServers> {
  const [server, locked]: Pick<Server, "url">[] = await Promise.all([
    shareServer("walk"),
    shareServer("walk-locked", WITH_TOKENS),
  ]);
  const { dir, head } = await makeWalkedRepository();
  for (const [name, from] of Object.entries({ repo: dir, history: await makeHistoryRepository() })) {
    await git(from, "push", "-q", `${server!.url}/walk/${name}`, "--all");
    await git(from, "push", "-q", `${server!.url}/walk/${name}`, "--tags", "refs/notes/*");
  }
  await askApi(server!, "/repos", {
    method: "POST",
    json: { owner: "walk", name: "empty", description: "Nothing yet" },
  });
  await askApi(server!, "/repos/walk/repo/forks", { method: "POST", json: { name: "fork" } });
  return { urlOf: ({ path, isLocked = false }) => (isLocked ? locked : server)!.url + path.replace(":head", head) };
}
