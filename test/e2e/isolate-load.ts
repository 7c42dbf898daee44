// What a busy isolate takes: V8's heap and what it holds outside of it, sampled while requests run
// and without a forced collection, so garbage that stands counts too. V8 has the platform's limit
// for its heap, by which it decides when to collect. The memories of WebAssembly, which V8 does not
// count, are bounded by the budget.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect } from "vitest";
import { askApi } from "../harness/api.ts";
import { git } from "../harness/git.ts";
import { IsolateWatch } from "../harness/isolate-memory.ts";
import { objectOf } from "../harness/lfs.ts";
import { tryHelper } from "../harness/remote-helper.ts";
import { findFreePort, type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const MIB = 1024 * 1024;

/** Memory of an isolate on the platform, MiB. Nothing that is asked may take more. */
export const ISOLATE_MIB = 128;

/** How often a page is asked for that says that it was cut short. */
const MAX_TRIES = 10;

/** What is asked of the server. */
export interface IsolateLoad {
  /** A bare repository with a branch `main`. */
  readonly dir: string;
  /** A text file of it with a long history. */
  readonly file: string;
  /** A text that many files have. */
  readonly text: string;
  readonly clones: number;
  /** LFS objects that are sent at once, and the bytes of each. */
  readonly uploads: number;
  readonly uploadBytes: number;
}

/** Puts a load on a new server, one kind of request after the other.
 * @returns by kind: the largest sample, MiB */
export async function measureLoad(load: IsolateLoad): Promise<Record<string, number>> {
  const inspectorPort = await findFreePort();
  const server = await startServer({ inspectorPort, heapMib: ISOLATE_MIB, vars: { WORKTREES: "none" } });
  const peaks: Record<string, number> = {};
  const measure = async (kind: string, act: () => Promise<unknown>): Promise<void> => {
    const watch = await IsolateWatch.begin(inspectorPort, "holdfast", false);
    try {
      await act();
    } finally {
      peaks[kind] = Math.round((await watch.end()) / MIB);
    }
  };
  try {
    await measure("nothing", async () => undefined);
    await measure("a push", () => git(load.dir, "push", "-q", `${server.url}/me/plain.git`, "main"));
    await measure("a push in steps", async () => {
      const remote = `holdfast::${server.url}/me/load.git`;
      const { code, stderr } = await tryHelper(load.dir, ["push", "-q", remote, "main"], { plainObjects: 1 });
      expect(stderr, `git push ended with ${code}`).not.toMatch(/error|fatal/);
    });
    await measure("clones", () => Promise.all(Array.from({ length: load.clones }, () => clone(server))));
    await measure("LFS objects", () => Promise.all(Array.from({ length: load.uploads }, () => upload(server, load))));
    const read = async (route: string): Promise<void> => {
      const answer = await fetch(`${server.url}${route}`);
      expect([route, answer.status]).toEqual([route, 200]);
      for await (const _ of answer.body!) continue;
    };
    await measure("pages", async () => {
      for (const page of [
        "",
        "/commits/main",
        `/tree/main/${load.file.split("/").slice(0, -1).join("/")}`,
        `/blob/main/${load.file}`,
      ])
        await read(`/me/load${page}`);
    });
    await measure("blame", async () => {
      for (let tries = 0, truncated = true; truncated; tries++) {
        const { status, body } = await askApi<{ truncated: boolean }>(server, `/repos/me/load/blame/main/${load.file}`);
        expect([status, tries < MAX_TRIES]).toEqual([200, true]);
        ({ truncated } = body);
      }
    });
    await measure("search", async () => {
      let cursor: string | null = "";
      do {
        const query: string = `pattern=${load.text}&ref=main${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
        const answer = await askApi<{ next: string | null }>(server, `/repos/me/load/grep?${query}`);
        cursor = answer.body.next;
      } while (typeof cursor === "string");
    });
    await measure("a check", async () => {
      let cursor = "";
      do {
        const query = cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`;
        const { status, body } = await askApi<{ problems: unknown[]; next: string | null }>(
          server,
          `/repos/me/load/fsck${query}`,
          { method: "POST" },
        );
        expect([status, body.problems]).toEqual([200, []]);
        cursor = body.next ?? "";
      } while (cursor !== "");
    });
    return peaks;
  } finally {
    await server.close();
  }
}

async function clone(server: Server): Promise<void> {
  const dir = makeTempDir("clone");
  await git(dir, "clone", "-q", "--bare", `${server.url}/me/load.git`, join(dir, "clone.git"));
}

async function upload(server: Server, { uploadBytes }: IsolateLoad): Promise<void> {
  const { oid, size, bytes } = objectOf(randomBytes(uploadBytes));
  const route = `${server.url}/me/load.git/info/lfs/objects`;
  const headers = { "Content-Type": "application/vnd.git-lfs+json", Accept: "application/vnd.git-lfs+json" };
  const body = JSON.stringify({ operation: "upload", transfers: ["basic"], objects: [{ oid, size }] });
  const batch = (await (await fetch(`${route}/batch`, { method: "POST", headers, body })).json()) as {
    objects: { actions: { upload: { href: string; header?: Record<string, string> } } }[];
  };
  const { href, header } = batch.objects[0]!.actions.upload;
  const answer = await fetch(href, { method: "PUT", headers: header ?? {}, body: new Uint8Array(bytes) });
  expect(answer.status).toBe(200);
}
