/** A client of the API that compares every answer with git. */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import type { Random } from "../../test/harness/random.ts";
import { demandSame, WrongAnswer } from "../verify/report.ts";
import { unexpected } from "../verify/target.ts";
import { MAIN, type StressedRepository } from "./stressed-repository.ts";

const AUTHOR = { name: "Ada Example", email: "ada@example.com" };

/** Commits of a log that are compared. */
const LOG_LENGTH = 30;

/** The requests, with their relative frequency. */
const REQUESTS = {
  readFile: 4,
  readFileOfBranch: 2,
  listFiles: 1,
  listDirectory: 2,
  log: 3,
  compare: 2,
  archive: 1,
  commit: 3,
  commitOnBase: 2,
  moveRef: 4,
  listBranches: 1,
} as const satisfies Partial<Record<keyof RestClient, number>>;

const CHOICES = Object.entries(REQUESTS).flatMap(([name, weight]) =>
  Array<keyof typeof REQUESTS>(weight).fill(name as keyof typeof REQUESTS),
);

/** A commit that was made, or the reason why not. */
interface MadeCommit {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly error?: { readonly code: string; readonly actual?: string };
}

/** The commits of the main branch that clients know, oldest first. */
export class SeenCommits {
  readonly #oids: string[] = [];

  /** The current ones; null if they cannot be read. */
  static async of(repository: StressedRepository): Promise<SeenCommits | null> {
    const tip = (await repository.look())?.get(MAIN);
    if (tip === undefined) return null;
    const seen = new SeenCommits();
    for (const oid of (await repository.history.tell("rev-list", "--reverse", tip)).split("\n")) seen.add(oid);
    return seen;
  }

  /** Adds a commit of the local repository. */
  add(oid: string): void {
    if (!this.#oids.includes(oid)) this.#oids.push(oid);
  }

  /** One of them. */
  pick(random: Random): string {
    return random.pick(this.#oids);
  }

  /** The one added last. */
  get last(): string {
    return this.#oids.at(-1)!;
  }
}

/** One client. */
export class RestClient {
  readonly #repository: StressedRepository;
  readonly #random: Random;
  readonly #seen: SeenCommits;
  readonly #name: string;
  #count = 0;

  /** @param name part of the names of the branches, tags and files that it makes */
  constructor(repository: StressedRepository, random: Random, seen: SeenCommits, name: string) {
    this.#repository = repository;
    this.#random = random;
    this.#seen = seen;
    this.#name = name;
  }

  /** Makes random requests, one after the other. */
  async work(requests: number): Promise<void> {
    for (let i = 0; i < requests; i++) await this[this.#random.pick(CHOICES)]();
  }

  /** The bytes of a file of a commit. */
  async readFile(): Promise<void> {
    const { history, target, path } = this.#repository;
    const [oid, file] = [this.#seen.pick(this.#random), history.pickPath(this.#random)];
    await this.#hold(
      "GET raw",
      () => target.read(`${path}/raw/${oid}/${file}`),
      async ({ bytes, etag }) => {
        const what = `${file} of ${oid}`;
        demandSame(what, bytes, await history.tellBytes("cat-file", "blob", `${oid}:${file}`));
        demandSame(`ETag of ${what}`, String(etag), `"${await history.tell("rev-parse", `${oid}:${file}`)}"`);
      },
    );
  }

  /** A file of the branch, at whatever commit the branch is: its bytes must match the ETag. */
  async readFileOfBranch(): Promise<void> {
    const { history, target, path } = this.#repository;
    const file = history.pickPath(this.#random);
    await this.#hold(
      "GET raw of a branch",
      () => target.read(`${path}/raw/main/${file}`),
      async ({ bytes, etag }) => {
        const oid = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
        demandSame(`id of the bytes of ${file}`, `"${oid}"`, String(etag));
      },
    );
  }

  /** All files of a commit. */
  async listFiles(): Promise<void> {
    const { history, target, path } = this.#repository;
    const oid = this.#seen.pick(this.#random);
    await this.#hold(
      "GET files/all",
      () =>
        target.readPages<{ path: string; mode: string; oid: string; size: number }>(
          `${path}/files/all?ref=${oid}`,
          "files",
        ),
      async ({ items }) => {
        const lines = items.map((file) => `${file.mode} blob ${file.oid} ${file.size}\t${file.path}`);
        const listed = (await history.tell("ls-tree", "-r", "-l", oid)).replaceAll(/ +/g, " ");
        demandSame(`files of ${oid}`, lines.join("\n"), listed);
      },
    );
  }

  /** The branch's root directory. */
  async listDirectory(): Promise<void> {
    const { history, target, path, refs } = this.#repository;
    const begin = refs.now();
    await this.#hold(
      "GET files",
      () => target.demand<{ commit: string; entries: Record<string, string>[] }>(`${path}/files?ref=main`),
      async ({ commit, entries }) => {
        refs.look("GET files", begin, new Map([[MAIN, commit]]), MAIN);
        await this.#know(commit);
        const lines = entries.map(
          (one) => `${one["mode"]} ${one["type"] === "dir" ? "tree" : "blob"} ${one["oid"]}\t${one["name"]}`,
        );
        demandSame(`root of ${commit}`, lines.join("\n"), await history.tell("ls-tree", commit));
      },
    );
  }

  /** The branch's last commits. */
  async log(): Promise<void> {
    const { history, target, path, refs } = this.#repository;
    const begin = refs.now();
    await this.#hold(
      "GET log",
      () => target.demand<{ commits: { oid: string }[] }>(`${path}/log?ref=main&limit=${LOG_LENGTH}`),
      async ({ commits }) => {
        const [tip] = commits;
        if (tip === undefined) throw new WrongAnswer("the log of main is empty");
        refs.look("GET log", begin, new Map([[MAIN, tip.oid]]), MAIN);
        await this.#know(tip.oid);
        const listed = await history.tell("log", "--format=%H", `-${LOG_LENGTH}`, tip.oid);
        demandSame(`log of ${tip.oid}`, commits.map(({ oid }) => oid).join("\n"), listed);
      },
    );
  }

  /** Two commits of the branch. */
  async compare(): Promise<void> {
    const { history, target, path } = this.#repository;
    const range = `${this.#seen.pick(this.#random)}...${this.#seen.pick(this.#random)}`;
    interface Page {
      readonly ahead: number;
      readonly behind: number;
      readonly nextCursor: string | null;
      readonly files: readonly { readonly path: string; readonly oid: string | null }[];
    }
    await this.#hold(
      "GET compare",
      () => target.demand<Page>(`${path}/compare/${range}?limit=1000`),
      async ({ ahead, behind, files, nextCursor }) => {
        const counts = await history.tell("rev-list", "--left-right", "--count", range);
        demandSame(`behind and ahead of ${range}`, `${behind}\t${ahead}`, counts);
        const lines = files.map((file) => `${file.oid} ${file.path}`).join("\n");
        const raw = await history.tell("diff", "--raw", "--no-abbrev", range);
        const changes = raw.replaceAll(/^:\d+ \d+ \w+ (\w+) \w\t/gm, "$1 ");
        // A page may end before all files are listed.
        demandSame(`files of ${range}`, lines, nextCursor === null ? changes : changes.slice(0, lines.length));
      },
    );
  }

  /** A directory of a commit as a tar. */
  async archive(): Promise<void> {
    const { history, target, path } = this.#repository;
    const [oid, dir] = [this.#seen.pick(this.#random), dirname(history.pickPath(this.#random))];
    await this.#hold(
      "GET archive",
      () => target.read(`${path}/archive/${oid}.tar?path=${dir}`),
      async ({ bytes }) => {
        demandSame(`archive of ${dir} of ${oid}`, bytes, await history.tellBytes("archive", oid, dir));
      },
    );
  }

  /** Changes a file of the branch, whatever its tip is. */
  async commit(): Promise<void> {
    await this.#commit("POST commits", {});
  }

  /** Changes a file of a commit if it is still the branch's tip; otherwise of the tip that the
   * answer names. */
  async commitOnBase(): Promise<void> {
    for (let base: string | null = this.#seen.last; base !== null;) {
      base = await this.#commit("POST commits on a base", { base, onConflict: "fail" });
    }
  }

  /** @returns null if it was made or failed; else the branch's tip, as it has moved on from the
   * base */
  async #commit(
    operation: string,
    on: { readonly base?: string; readonly onConflict?: "fail" },
  ): Promise<string | null> {
    const { target, path, refs } = this.#repository;
    const number = ++this.#count;
    const [file, content] = [`api/${this.#name}.txt`, `${this.#name}: commit ${number}\n`];
    const move = refs.begin(MAIN, undefined, undefined);
    const json = { branch: "main", message: content, author: AUTHOR, operations: [{ op: "put", path: file, content }] };
    const answer = await this.#repository.run(operation, async () => {
      const { status, body } = await target.ask<MadeCommit>(`${path}/commits`, {
        method: "POST",
        json: { ...json, ...on },
      });
      const isStale = status === 409 && on.base !== undefined && body.error?.code === "stale";
      // The answer to an outdated base names the branch's tip, a different one.
      const isExplained = isStale && typeof body.error?.actual === "string" && body.error.actual !== on.base;
      if (status !== 201 && !isExplained) throw unexpected("POST", `${path}/commits`, status, JSON.stringify(body));
      return body;
    });
    if (answer === null) return null;
    const { error, commit, parents } = answer;
    if (error !== undefined) {
      refs.end(move, "refused");
      return error.actual!;
    }
    [move.old, move.next] = [parents[0]!, commit];
    refs.end(move, "acknowledged");
    await this.#repository.check(operation, async () => {
      await this.#know(commit);
      const { history } = this.#repository;
      demandSame(`parents of ${commit}`, parents.join(" "), await history.tell("log", "-1", "--format=%P", commit));
      demandSame(`parent of ${commit}`, parents[0]!, on.base ?? parents[0]!);
      demandSame(`changes of ${commit}`, await history.tell("diff", "--name-only", `${commit}~1`, commit), file);
      demandSame(`${file} of ${commit}`, `${await history.tell("show", `${commit}:${file}`)}\n`, content);
    });
    return null;
  }

  /** Makes a branch or a tag, reads it, and sometimes deletes it. */
  async moveRef(): Promise<void> {
    const { path, refs, target } = this.#repository;
    const isTag = this.#random.below(2) === 0;
    const [list, kind, commit] = [isTag ? "tags" : "branches", isTag ? "tags" : "heads", this.#seen.pick(this.#random)];
    const name = `${this.#name}-${++this.#count}`;
    const [ref, place] = [`refs/${kind}/${name}`, `${path}/${list}`];
    const annotation = this.#random.below(2) === 0 ? {} : { message: `Tag ${name}\n`, tagger: AUTHOR };
    const json = isTag ? { name, target: commit, ...annotation } : { name, startPoint: commit };
    const made = refs.begin(ref, null, undefined);
    const oid = await this.#repository.run(`POST ${list}`, async () => {
      made.next = (await target.demand<{ oid?: string }>(place, { method: "POST", json }, [201])).oid ?? commit;
      refs.end(made, "acknowledged");
      return made.next;
    });
    if (oid === null) return;
    await this.#hold(
      `GET ${isTag ? "tag" : "branch"}`,
      () => target.demand<{ oid?: string; target?: { oid: string }; commit?: string }>(`${place}/${name}`),
      async (found) => {
        demandSame(ref, `${found.oid ?? found.commit} ${found.target?.oid ?? found.commit}`, `${oid} ${commit}`);
      },
    );
    if (this.#random.below(2) === 0) return;
    const gone = refs.begin(ref, oid, null);
    await this.#repository.run(`DELETE ${list}`, async () => {
      await target.demand(`${place}/${name}?expected=${oid}`, { method: "DELETE" }, [204]);
      refs.end(gone, "acknowledged");
    });
  }

  /** Lists the branches. Pages are of different moments, so each branch is compared by itself. */
  async listBranches(): Promise<void> {
    const { target, path, refs } = this.#repository;
    const begin = refs.now();
    await this.#hold(
      "GET branches",
      () => target.readPages<{ name: string; commit: string }>(`${path}/branches?limit=100`, "branches"),
      async ({ items }) => {
        for (const { name, commit } of items) {
          const ref = `refs/heads/${name}`;
          refs.look("GET branches", begin, new Map([[ref, commit]]), ref);
        }
      },
    );
  }

  /** Sends a request and checks the answer. */
  async #hold<Result>(operation: string, ask: () => Promise<Result>, look: (answer: Result) => Promise<void>) {
    const answer = await this.#repository.run(operation, ask);
    if (answer !== null) await this.#repository.check(operation, () => look(answer));
  }

  /** Makes sure that the local repository has a commit. */
  async #know(oid: string): Promise<void> {
    await fetchCommit(this.#repository, oid);
    this.#seen.add(oid);
  }
}

/** Fetches a commit into the local repository if it is missing.
 * @throws UnexpectedAnswer if that fails */
export async function fetchCommit({ target, history, url }: StressedRepository, oid: string): Promise<void> {
  if (await history.has(oid)) return;
  await target.demandGit(history.dir, "fetch", "-q", "--no-write-fetch-head", "--no-tags", url, oid);
}
