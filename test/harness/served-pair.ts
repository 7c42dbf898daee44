import { join } from "node:path";
import { git } from "./git.ts";
import { startNative } from "./native.ts";
import { shareServer } from "./shared-server.ts";
import { makeTempDir } from "./temp-dir.ts";

/** One history behind the Worker and behind git's own server, for comparing clients. */
export interface ServedPair {
  readonly holdfast: string;
  readonly native: string;
  close(): Promise<void>;
}

/** Serves a history from both.
 * @param owner see `shareServer`
 * @param origin a repository
 * @param settings permissions for git's own server, such as `uploadpack.allowFilter` */
export async function servePair(owner: string, origin: string, settings: readonly string[]): Promise<ServedPair> {
  const root = makeTempDir("root");
  const mirror = join(root, "history.git");
  await git(root, "clone", "-q", "--mirror", origin, mirror);
  for (const setting of settings) await git(mirror, "config", setting, "true");
  const [server, native] = await Promise.all([shareServer(owner), startNative(root)]);
  const holdfast = `${server.url}/${owner}/history.git`;
  await git(origin, "push", "-q", "--mirror", holdfast);
  return {
    holdfast,
    native: `${native.url}/history.git`,
    close: () => native.close(),
  };
}
