/** Imports into repositories of the tested server. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type Answer, askApi } from "./api.ts";
import { findProblems } from "./find-problems.ts";
import { git, listRefs } from "./git.ts";
import { makeHistory } from "./history.ts";
import { type NativeServer, startNative } from "./native.ts";
import { type Server, startServer } from "./server.ts";
import { makeTempDir } from "./temp-dir.ts";

/** An import, as the API shows it. */
export interface Import {
  readonly state: "running" | "waiting" | "done" | "failed";
  readonly mirror: boolean;
  readonly interval: number;
  readonly error: string | null;
  readonly steps: number;
  readonly objects: number;
  readonly upstreamRefs: number;
  readonly syncedAt: string | null;
  readonly nextAt: string | null;
  readonly hasAuthorization: boolean;
}

/** A server that imports, from repositories that git serves. */
export class ImportBench {
  readonly server: Server;
  readonly native: NativeServer;
  /** Of the repositories that `native` serves. */
  readonly root: string;
  /** One of them, `history.git`: more than a pack may have here. */
  readonly history: string;
  #names = 0;

  private constructor(server: Server, native: NativeServer, root: string, history: string) {
    this.server = server;
    this.native = native;
    this.root = root;
    this.history = history;
  }

  /** @param constants of the server's code, as waits
   * @param more limits of the deployment */
  static async open(
    constants: Readonly<Record<string, number>> = {},
    more: Readonly<Record<string, number>> = {},
  ): Promise<ImportBench> {
    const limits = { maxPackObjects: 900, pruneGraceMs: 0, ...more };
    const secret = "a secret of the deployment, of which nobody knows";
    const vars = { ALLOW_PRIVATE_IMPORTS: "on", SECRETS_KEY: secret, LIMITS: JSON.stringify(limits) };
    const root = makeTempDir("served");
    const [server, native, made] = await Promise.all([
      startServer({ vars, constants: { FIRST_DEPTH: 16, IMPORT_RETRY_MS: 20, PLAN_LIFE_MS: 0, ...constants } }),
      startNative(root),
      makeHistory({ commits: 120, files: 30, branches: 6, merges: 3, tags: 6, upheavals: 8 }),
    ]);
    const history = join(root, "history.git");
    await cp(made, history, { recursive: true });
    return new ImportBench(server, native, root, history);
  }

  async close(): Promise<void> {
    await this.native.close();
    await this.server.close();
  }

  /** An empty repository.
   * @returns its name, with its owner */
  async newRepository(): Promise<string> {
    const name = `imported-${++this.#names}`;
    const { status } = await askApi(this.server, "/repos", { method: "POST", json: { owner: "me", name } });
    expect(status).toBe(201);
    return `me/${name}`;
  }

  begin(name: string, json: Readonly<Record<string, unknown>>) {
    return this.#ask(name, "POST", json);
  }

  change(name: string, json: Readonly<Record<string, unknown>>) {
    return this.#ask(name, "PATCH", json);
  }

  async read(name: string): Promise<Import> {
    return (await this.#ask(name, "GET")).body;
  }

  /** Waits until an import has ended.
   * @throws Error after 30 seconds */
  async settled(name: string): Promise<Import> {
    for (let looks = 0; looks < 1_500; looks++) {
      const found = await this.read(name);
      if (found.state !== "running") return found;
      await sleep(20);
    }
    throw new Error(`the import of ${name} has not ended: ${JSON.stringify(await this.read(name))}`);
  }

  /** Has a mirror look at its upstream, and waits until it has. */
  async sync(name: string): Promise<Import> {
    const before = (await this.read(name)).syncedAt;
    expect((await askApi(this.server, `/repos/${name}/import/sync`, { method: "POST" })).status).toBe(202);
    for (let found = await this.read(name); ; found = await this.read(name)) {
      if (found.state === "waiting" && (found.syncedAt !== before || found.error !== null)) return found;
      await sleep(20);
    }
  }

  /** Imports into a new repository, and expects that to end well.
   * @returns the repository's name */
  async importAll(url: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const name = await this.newRepository();
    expect(await this.begin(name, { url, ...more })).toMatchObject({ status: 202, body: { state: "running" } });
    expect(await this.settled(name)).toMatchObject({ state: "done", error: null });
    return name;
  }

  /** Expects a repository to be the same as a local one, and whole. */
  async expectSame(name: string, dir: string): Promise<void> {
    const clone = join(makeTempDir("clone"), "copy.git");
    await git(this.root, "clone", "-q", "--mirror", `${this.server.url}/${name}`, clone);
    await git(clone, "fsck", "--full", "--strict");
    expect(await listRefs(clone)).toBe(await listRefs(dir));
    expect(await git(clone, "symbolic-ref", "HEAD")).toBe(await git(dir, "symbolic-ref", "HEAD"));
    const list = async (repository: string): Promise<string[]> =>
      (await git(repository, "rev-list", "--objects", "--no-object-names", "--all")).split("\n").sort();
    expect(await list(clone)).toEqual(await list(dir));
    expect(await findProblems(`${this.server.url}/${name}`)).toEqual([]);
  }

  /** Expects that nothing is left of an import that failed. */
  async expectNothingLeft(name: string): Promise<void> {
    await askApi(this.server, `/repos/${name}/maintenance`, { method: "POST" });
    const { body } = await askApi<{ id: string }>(this.server, `/repos/${name}`);
    expect([...(await this.server.readObjects(body.id)).keys()]).toEqual([]);
    expect(await findProblems(`${this.server.url}/${name}`)).toEqual([]);
    expect(await git(this.root, "ls-remote", `${this.server.url}/${name}`)).toBe("");
  }

  #ask(
    name: string,
    method: string,
    json?: Readonly<Record<string, unknown>>,
  ): Promise<Answer<Import & { error: { code: string; message: string } }>> {
    return askApi(this.server, `/repos/${name}/import`, { method, ...(json !== undefined && { json }) });
  }
}
