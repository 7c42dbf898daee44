/** A client of the API that compares every answer with git. */
import { dirname } from "node:path";
import type { Random } from "../../test/harness/random.ts";
import { hashObject } from "../../test/harness/raw.ts";
import { demandSame, WrongAnswer } from "../verify/report.ts";
import { unexpected } from "../verify/target.ts";
import { type LocalHistory, MAIN, type StressedRepository } from "./stressed-repository.ts";

/** The author of what is made by the API. */
export const AUTHOR = { name: "Ada Example", email: "ada@example.com" };

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

/** A file or directory as the API lists it; without what nobody compares. */
type Entry = { mode: string; type: string; oid: string | null; name: string; path: string };

/** Checks an answer. @throws WrongAnswer */
type Look<Result> = (answer: Result) => Promise<void> | void;

/** The commits of the main branch that clients know, oldest first. */
export type SeenCommits = Set<string>;

/** Reads the current ones; null if they cannot be read. */
export async function readSeen(repository: StressedRepository): Promise<SeenCommits | null> {
  const tip = (await repository.look())?.get(MAIN);
  if (tip === undefined) return null;
  return new Set((await repository.history.tell("rev-list", "--reverse", tip)).split("\n"));
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
  readFile(): Promise<void> {
    const [oid, file] = [this.#pickCommit(), this.#pickPath()];
    return this.#read("GET raw", `/raw/${oid}/${file}`, async ({ bytes, etag }) => {
      const what = `${file} of ${oid}`;
      demandSame(what, bytes, await this.#git.tellBytes("cat-file", "blob", `${oid}:${file}`));
      demandSame(`ETag of ${what}`, String(etag), `"${await this.#git.tell("rev-parse", `${oid}:${file}`)}"`);
    });
  }

  /** A file of the branch, at whatever commit the branch is: its bytes must match the ETag. */
  readFileOfBranch(): Promise<void> {
    const file = this.#pickPath();
    return this.#read("GET raw of a branch", `/raw/main/${file}`, ({ bytes, etag }) =>
      demandSame(`id of the bytes of ${file}`, `"${hashObject("blob", bytes)}"`, String(etag)),
    );
  }

  /** A directory of a commit as a tar. */
  archive(): Promise<void> {
    const [oid, dir] = [this.#pickCommit(), dirname(this.#pickPath())];
    return this.#read("GET archive", `/archive/${oid}.tar?path=${dir}`, async ({ bytes }) =>
      demandSame(`archive of ${dir} of ${oid}`, bytes, await this.#git.tellBytes("archive", oid, dir)),
    );
  }

  /** All files of a commit. */
  listFiles(): Promise<void> {
    const oid = this.#pickCommit();
    return this.#list<Entry & { size: number }>("GET files/all", `/files/all?ref=${oid}`, "files", async (files) => {
      const lines = files.map((file) => `${file.mode} blob ${file.oid} ${file.size}\t${file.path}`);
      const listed = (await this.#git.tell("ls-tree", "-r", "-l", oid)).replaceAll(/ +/g, " ");
      demandSame(`files of ${oid}`, lines.join("\n"), listed);
    });
  }

  /** The branch's root directory. */
  listDirectory(): Promise<void> {
    type Page = { readonly commit: string; readonly entries: readonly Entry[] };
    const begin = this.#repository.refs.now();
    return this.#get<Page>("GET files", "/files?ref=main", async ({ commit, entries }) => {
      await this.#seeMain("GET files", begin, commit);
      const lines = entries.map(
        ({ mode, type, oid, name }) => `${mode} ${type === "dir" ? "tree" : "blob"} ${oid}\t${name}`,
      );
      demandSame(`root of ${commit}`, lines.join("\n"), await this.#git.tell("ls-tree", commit));
    });
  }

  /** The branch's last commits. */
  log(): Promise<void> {
    const begin = this.#repository.refs.now();
    const path = `/log?ref=main&limit=${LOG_LENGTH}`;
    return this.#get<{ commits: { oid: string }[] }>("GET log", path, async ({ commits }) => {
      const [tip] = commits;
      if (tip === undefined) throw new WrongAnswer("the log of main is empty");
      await this.#seeMain("GET log", begin, tip.oid);
      const listed = await this.#git.tell("log", "--format=%H", `-${LOG_LENGTH}`, tip.oid);
      demandSame(`log of ${tip.oid}`, commits.map(({ oid }) => oid).join("\n"), listed);
    });
  }

  /** Two commits of the branch. */
  compare(): Promise<void> {
    const range = `${this.#pickCommit()}...${this.#pickCommit()}`;
    type Page = { ahead: number; behind: number; nextCursor: string | null; files: Entry[] };
    return this.#get<Page>("GET compare", `/compare/${range}?limit=1000`, async (page) => {
      const counts = await this.#git.tell("rev-list", "--left-right", "--count", range);
      demandSame(`behind and ahead of ${range}`, `${page.behind}\t${page.ahead}`, counts);
      const lines = page.files.map((file) => `${file.oid} ${file.path}`).join("\n");
      const raw = await this.#git.tell("diff", "--raw", "--no-abbrev", range);
      const changes = raw.replaceAll(/^:\d+ \d+ \w+ (\w+) \w\t/gm, "$1 ");
      // A page may end before all files are listed.
      demandSame(`files of ${range}`, lines, page.nextCursor === null ? changes : changes.slice(0, lines.length));
    });
  }

  /** Changes a file of the branch, whatever its tip is. */
  async commit(): Promise<void> {
    await this.#commit("POST commits", {});
  }

  /** Changes a file of a commit if it is still the branch's tip; otherwise of the tip that the
   * answer names. */
  async commitOnBase(): Promise<void> {
    for (let base = [...this.#seen].at(-1) ?? null; base !== null;)
      base = await this.#commit("POST commits on a base", { base, onConflict: "fail" });
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
      demandSame(`parents of ${commit}`, parents.join(" "), await this.#git.tell("log", "-1", "--format=%P", commit));
      demandSame(`parent of ${commit}`, parents[0]!, on.base ?? parents[0]!);
      demandSame(`changes of ${commit}`, await this.#git.tell("diff", "--name-only", `${commit}~1`, commit), file);
      demandSame(`${file} of ${commit}`, `${await this.#git.tell("show", `${commit}:${file}`)}\n`, content);
    });
    return null;
  }

  /** Makes a branch or a tag, reads it, and sometimes deletes it. */
  async moveRef(): Promise<void> {
    const { path, refs, target } = this.#repository;
    const isTag = this.#random.below(2) === 0;
    const [list, kind, commit] = [isTag ? "tags" : "branches", isTag ? "tags" : "heads", this.#pickCommit()];
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
    type Found = { oid?: string; target?: { oid: string }; commit?: string };
    await this.#get<Found>(`GET ${isTag ? "tag" : "branch"}`, `/${list}/${name}`, (found) =>
      demandSame(ref, `${found.oid ?? found.commit} ${found.target?.oid ?? found.commit}`, `${oid} ${commit}`),
    );
    if (this.#random.below(2) === 0) return;
    const gone = refs.begin(ref, oid, null);
    await this.#repository.run(`DELETE ${list}`, async () => {
      await target.demand(`${place}/${name}?expected=${oid}`, { method: "DELETE" }, [204]);
      refs.end(gone, "acknowledged");
    });
  }

  /** Lists the branches. Pages are of different moments, so each branch is compared by itself. */
  listBranches(): Promise<void> {
    const { refs } = this.#repository;
    const begin = refs.now();
    return this.#list<Record<string, string>>("GET branches", "/branches?limit=100", "branches", (branches) => {
      for (const { name, commit } of branches)
        refs.look("GET branches", begin, new Map([[`refs/heads/${name}`, commit!]]), `refs/heads/${name}`);
    });
  }

  /** Git's own view. */
  get #git(): LocalHistory {
    return this.#repository.history;
  }

  #pickCommit(): string {
    return this.#random.pick([...this.#seen]);
  }

  #pickPath(): string {
    return this.#git.pickPath(this.#random);
  }

  /** Sends a request and checks the answer. */
  async #hold<Result>(operation: string, ask: () => Promise<Result>, look: Look<Result>): Promise<void> {
    const answer = await this.#repository.run(operation, ask);
    if (answer !== null) await this.#repository.check(operation, () => look(answer));
  }

  /** Reads bytes and checks them. */
  #read(operation: string, path: string, look: Look<{ bytes: Buffer; etag: string | null }>): Promise<void> {
    return this.#hold(operation, () => this.#repository.target.read(this.#repository.path + path), look);
  }

  /** Reads JSON and checks it. */
  #get<Body>(operation: string, path: string, look: Look<Body>): Promise<void> {
    return this.#hold(operation, () => this.#repository.target.demand<Body>(this.#repository.path + path), look);
  }

  /** Reads all pages of a list and checks its items. */
  #list<Item>(operation: string, path: string, list: string, look: Look<Item[]>): Promise<void> {
    const { target, path: base } = this.#repository;
    return this.#hold(operation, async () => (await target.readPages<Item>(base + path, list)).items, look);
  }

  /** Records where an answer saw the branch. */
  async #seeMain(operation: string, begin: number, tip: string): Promise<void> {
    this.#repository.refs.look(operation, begin, new Map([[MAIN, tip]]), MAIN);
    await this.#know(tip);
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
