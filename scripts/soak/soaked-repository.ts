/** One repository under load: what its clients do, and the model of what they were told. */
import { rmSync } from "node:fs";
import { askApi } from "../../test/harness/api.ts";
import { git, makeRepository, tryGit } from "../../test/harness/git.ts";
import { makeObject } from "../../test/harness/pack-builder.ts";
import { readPack } from "../../test/harness/pack-reader.ts";
import type { Random } from "../../test/harness/random.ts";
import { decodePkts, demux, DELIM, encodePkt, FLUSH, request } from "../../test/harness/raw.ts";
import { sendPush } from "../../test/harness/raw-push.ts";
import { History, noise } from "../../test/repository/simulation/history.ts";
import { type ModelCommand, RefModel } from "../../test/repository/simulation/ref-model.ts";

const MAIN = "refs/heads/main";
const BRANCHES = [MAIN, MAIN, "refs/heads/a", "refs/heads/b", "refs/heads/c"];
const AUTHOR = { name: "Ada Example", email: "ada@example.com" };

/** The refs at one moment, and when that was for the model. */
interface View {
  readonly refs: ReadonlyMap<string, string>;
  readonly moment: number;
}

/** An answer that nothing explains. */
export class UnexpectedAnswer extends Error {}

/** A repository that many use at once. */
export class SoakedRepository {
  readonly #history = new History();
  readonly #model = new RefModel();
  readonly #server: { readonly url: string };
  readonly #random: Random;
  readonly #path: string;
  readonly #url: string;
  /** What a client has that fetches again and again. */
  #fetched = { objects: new Set<string>(), tips: [] as string[] };
  #commits = 0;

  constructor(server: { readonly url: string }, name: string, random: Random) {
    this.#server = server;
    this.#random = random;
    this.#path = `/repos/soak/${name}`;
    this.#url = `${server.url}/soak/${name}.git`;
  }

  /** Commits made by clients so far. */
  get commits(): number {
    return this.#commits;
  }

  /** Makes the repository. */
  async begin(): Promise<void> {
    await this.#send([{ name: MAIN, old: null, next: this.#makeCommit(null) }], { refs: new Map(), moment: 0 }, false);
  }

  /** Pushes commits, new branches, deletions and forced updates, several at once at times. */
  async push(): Promise<void> {
    const view = await this.#look();
    if (view === null) return;
    const names = new Set([this.#random.pick(BRANCHES)]);
    if (this.#random.below(5) === 0) names.add(this.#random.pick(BRANCHES));
    const commands = [...names].map((name): ModelCommand => {
      const old = view.refs.get(name) ?? null;
      if (old !== null && name !== MAIN && this.#random.below(8) === 0) return { name, old, next: null };
      const isForced = name !== MAIN && this.#random.below(8) === 0;
      return { name, old, next: this.#makeCommit(isForced || old === null ? view.refs.get(MAIN)! : old) };
    });
    await this.#send(commands, view, this.#random.below(2) === 0);
  }

  /** Pushes a commit with git itself. */
  async gitPush(): Promise<void> {
    const view = await this.#look();
    if (view === null) return;
    const name = "refs/heads/git";
    const old = view.refs.get(name) ?? null;
    const next = this.#makeCommit(old ?? view.refs.get(MAIN)!);
    const objects = [...this.#history.closure([next])].map((oid) => this.#history.demand(oid));
    const pack = this.#history.pack(objects, new Set(), this.#random);
    const deed = this.#newPush([{ name, old, next }], true);
    const act = this.#model.begin("git push", deed);
    const lease = `--force-with-lease=${name}:${old ?? ""}`;
    const { code, stderr } = await inRepository(async (dir) => {
      await tryGit(dir, ["index-pack", "--stdin"], { stdin: pack });
      return tryGit(dir, ["push", "-q", lease, this.#url, `${next}:${name}`]);
    });
    this.#model.end(act);
    if (code === 0) deed.errors = [null];
    // The client itself sees before what has moved.
    else if (!/stale info|fetch first|is at /.test(stderr)) throw new UnexpectedAnswer(`git push: ${stderr}`);
  }

  /** Fetches what is new, or everything, and looks at every object. */
  async fetch(): Promise<void> {
    const view = await this.#look();
    if (view === null) return;
    const isClone = this.#random.below(6) === 0;
    const { objects, tips } = isClone ? { objects: new Set<string>(), tips: [] } : this.#fetched;
    const wants = [...new Set(view.refs.values())].filter((oid) => !objects.has(oid));
    if (wants.length === 0) return;
    const received = await this.#receive(wants, tips, view.moment);
    if (received === null) return;
    const got = new Set([...objects, ...received]);
    const missing = [...this.#history.closure(wants)].filter((oid) => !got.has(oid));
    if (missing.length > 0) throw new UnexpectedAnswer(`a fetch lacks ${missing.join()}`);
    this.#fetched = { objects: got, tips: [...new Set(view.refs.values())] };
  }

  /** Clones with git, which checks what it gets. */
  async gitClone(): Promise<void> {
    await inRepository((dir) => git(dir, "fetch", "-q", this.#url, "+refs/*:refs/*"));
  }

  /** Reads a file of a commit, and lists branches, commits and files. */
  async read(): Promise<void> {
    const view = await this.#look();
    if (view === null) return;
    const oid = this.#random.pick([...view.refs.values()]);
    const files = this.#history.files(oid);
    const [path, blob] = this.#random.pick([...files]);
    const raw = await fetch(`${this.#server.url}/api${this.#path}/raw/${oid}/${path}`);
    const bytes = Buffer.from(await raw.arrayBuffer());
    if (raw.status !== 200) this.#excuse(raw.status, [404], view, bytes.toString());
    else if (!bytes.equals(this.#history.demand(blob).content))
      throw new UnexpectedAnswer(`${path} of ${oid} is another`);
    const what = this.#random.pick(["/branches", "/log", `/files?ref=${oid}`, "/tags", "/pushes", "", "/stats"]);
    const { status, body } = await askApi(this.#server, `${this.#path}${what}`);
    if (status !== 200) this.#excuse(status, [404], view, JSON.stringify(body));
  }

  /** Saves a file through the API. */
  async commit(): Promise<void> {
    const view = await this.#look();
    if (view === null) return;
    const ref = this.#random.pick(BRANCHES.filter((name) => view.refs.has(name)));
    const number = ++this.#commits;
    const [path, content] = [`api-${this.#random.below(5)}`, `commit ${number}\n`];
    const blob = this.#history.add(makeObject("blob", content));
    const json = {
      branch: ref.slice("refs/heads/".length),
      message: `API ${number}\n`,
      author: AUTHOR,
      operations: [{ op: "put", path, content }],
    };
    await this.#change(ref, view, "/commits", json, (commit, parent) => {
      const files = new Map(this.#history.files(parent)).set(path, blob.oid);
      return this.#history.makeTrees(files).at(-1)!.oid === this.#history.links(commit)[0];
    });
  }

  /** Merges one branch into another through the API. */
  async merge(): Promise<void> {
    const view = await this.#look();
    if (view === null) return;
    const names = BRANCHES.filter((name) => view.refs.has(name));
    const ref = this.#random.pick(names);
    const json = {
      base: ref.slice("refs/heads/".length),
      head: view.refs.get(this.#random.pick(names)),
      fastForward: "never",
      author: AUTHOR,
    };
    await this.#change(ref, view, "/merge", json, () => true);
  }

  /** Has housekeeping done at once. */
  async maintain(): Promise<void> {
    const { status, body } = await askApi(this.#server, `${this.#path}/maintenance`, { method: "POST" });
    if (status !== 200) throw new UnexpectedAnswer(`maintenance: ${status} ${JSON.stringify(body)}`);
  }

  /** Clones everything with git, and holds it against what was acknowledged.
   * @returns what is wrong, null: nothing */
  async check(): Promise<string | null> {
    const view = await this.#look();
    if (view === null) return "it cannot be looked at";
    const unexplained = this.#model.explain();
    return unexplained ?? inRepository((dir) => this.#checkClone(dir, view));
  }

  async #checkClone(dir: string, view: View): Promise<string | null> {
    await git(dir, "fetch", "-q", this.#url, "+refs/*:refs/*");
    const checked = await tryGit(dir, ["fsck", "--strict", "--full", "--no-dangling", "--no-progress"]);
    if (checked.code !== 0) return `fsck: ${checked.stdout}${checked.stderr}`;
    const lines = (await git(dir, "for-each-ref", "--format=%(refname) %(objectname)")).split("\n");
    const refs = [...view.refs].map(([name, oid]) => `${name} ${oid}`);
    if (lines.toSorted().join("\n") !== refs.toSorted().join("\n")) return "a clone has other refs";
    const cloned = new Set((await git(dir, "rev-list", "--all", "--objects", "--no-object-names")).split("\n"));
    const missing = [...this.#history.closure(view.refs.values())].filter((oid) => !cloned.has(oid));
    return missing.length === 0 ? null : `a clone lacks ${missing.join()}`;
  }

  /** Lists the refs, and gets to know what they lead to. @returns null when they moved on before that */
  async #look(): Promise<View | null> {
    const deed = { kind: "look" as const, state: undefined as { refs: Map<string, string>; head: string } | undefined };
    const act = this.#model.begin("look", deed);
    const { status, body } = await request(`${this.#url}/info/refs?service=git-upload-pack`);
    this.#model.end(act);
    if (status !== 200) throw new UnexpectedAnswer(`info/refs: ${status} ${body.toString()}`);
    const refs = new Map<string, string>();
    for (const pkt of decodePkts(body)) {
      const [, oid, name] = /^([0-9a-f]{40}) (refs\/[^\0\n^]+)\n?$/.exec(pkt.toString().replace(/\0.*/s, "")) ?? [];
      if (name !== undefined) refs.set(name, oid!);
    }
    deed.state = { refs, head: MAIN };
    const view = { refs, moment: act.begin };
    return (await this.#know([...refs.values()], view.moment)) ? view : null;
  }

  /** Gets commits that the server made. @returns whether they are known now */
  async #know(oids: readonly string[], moment: number): Promise<boolean> {
    const unknown = oids.filter((oid) => this.#history.get(oid) === undefined);
    if (unknown.length === 0) return true;
    return (await this.#receive([...new Set(unknown)], [], moment)) !== null;
  }

  /** Fetches by protocol v2. @returns the ids of what came, null: the wants are gone */
  async #receive(wants: readonly string[], haves: readonly string[], moment: number): Promise<string[] | null> {
    const lines = [...wants.map((oid) => `want ${oid}\n`), ...haves.map((oid) => `have ${oid}\n`), "done\n"];
    const options = ["thin-pack\n", "ofs-delta\n", "no-progress\n", ...lines].map((line) => encodePkt(line));
    const { status, body } = await request(`${this.#url}/git-upload-pack`, {
      headers: { "git-protocol": "version=2", "content-type": "application/x-git-upload-pack-request" },
      body: Buffer.concat([encodePkt("command=fetch\n"), DELIM, ...options, FLUSH]),
    });
    if (status !== 200) throw new UnexpectedAnswer(`fetch: ${status} ${body.toString()}`);
    const pkts = decodePkts(body);
    const start = pkts.findIndex((pkt) => pkt.toString() === "packfile\n");
    if (start < 0) {
      if (this.#model.isRewound(moment, this.#model.moment)) return null;
      throw new UnexpectedAnswer(`fetch: ${pkts.map(String).join()}`);
    }
    const { data, error } = demux(pkts.slice(start + 1));
    if (error !== "") throw new UnexpectedAnswer(`fetch: ${error}`);
    const objects = readPack(data, (oid) => this.#history.get(oid));
    for (const object of objects) this.#history.add(object);
    return objects.map(({ oid }) => oid);
  }

  async #send(commands: readonly ModelCommand[], view: View, atomic: boolean): Promise<void> {
    const had = this.#history.closure(view.refs.values());
    const tips = commands.map(({ next }) => next).filter((next) => next !== null);
    const objects = [...this.#history.closure(tips, had)].map((oid) => this.#history.demand(oid));
    const deed = this.#newPush(commands, atomic);
    const act = this.#model.begin("push", deed);
    const { status, unpack, refs, text } = await sendPush(this.#url, {
      commands: commands.map(({ name, old, next }) => ({
        name,
        ...(old === null ? {} : { old }),
        ...(next === null ? {} : { new: next }),
      })),
      ...(tips.length === 0 ? {} : { pack: this.#history.pack(objects, had, this.#random) }),
      capabilities: `report-status side-band-64k${atomic ? " atomic" : ""}`,
    });
    this.#model.end(act);
    if (status !== 200) throw new UnexpectedAnswer(`push: ${status} ${text}`);
    deed.mayMiss = this.#model.isRewound(view.moment, this.#model.moment);
    deed.errors = commands.map(({ name }) => refs.get(name) ?? null);
    if (unpack !== "ok" && !deed.mayMiss) throw new UnexpectedAnswer(`push: ${unpack}`);
  }

  #newPush(commands: readonly ModelCommand[], atomic: boolean) {
    const isLost = ({ old, next }: ModelCommand): boolean =>
      old !== null && (next === null || !this.#history.closure([next]).has(old));
    const errors = null as readonly (string | null)[] | null;
    return { kind: "push" as const, commands, atomic, errors, mayMiss: false, rewinds: commands.some(isLost) };
  }

  /** Has the server make a commit on a branch. @param isRight looks at a commit that was made, and its parent */
  async #change(
    ref: string,
    view: View,
    route: string,
    json: unknown,
    isRight: (commit: string, parent: string) => boolean,
  ): Promise<void> {
    const deed = { kind: "change" as const, ref, nonce: "", moves: [] as ModelCommand[], isKnown: false };
    const act = this.#model.begin(route, deed);
    const answer = await askApi<{ commit: string; parents: string[] }>(this.#server, this.#path + route, {
      method: "POST",
      json,
    });
    this.#model.end(act);
    const { status, body } = answer;
    if (status !== 200 && status !== 201) {
      if (status !== 409) this.#excuse(status, [404], view, JSON.stringify(body));
      return;
    }
    const { commit, parents } = body;
    const old = status === 200 ? commit : parents[0]!;
    deed.moves = [{ name: ref, old, next: commit }];
    deed.isKnown = true;
    if (status === 200 || !(await this.#know([commit], act.begin))) return;
    if (!isRight(commit, old)) throw new UnexpectedAnswer(`${route}: ${commit} is not what was asked for`);
  }

  /** Takes an answer as it is when refs were taken back meanwhile. */
  #excuse(status: number, statuses: readonly number[], view: View, text: string): void {
    if (statuses.includes(status) && this.#model.isRewound(view.moment, this.#model.moment)) return;
    throw new UnexpectedAnswer(`${status} ${text}`);
  }

  #makeCommit(parent: string | null): string {
    const number = ++this.#commits;
    const files = new Map(parent === null ? [] : this.#history.files(parent));
    const path = `${this.#random.pick(["", "d0/", "d1/"])}f${this.#random.below(10)}`;
    const isLarge = this.#random.below(12) === 0;
    const blob = isLarge ? noise(this.#random.below(16)) : makeObject("blob", `version ${number}\n`.repeat(20));
    files.set(path, blob.oid);
    const parents = parent === null ? [] : [parent];
    return this.#history.makeCommit(files, parents, `Commit ${number}`, [blob]).oid;
  }
}

/** Does something in a new bare repository, and removes that. */
async function inRepository<Result>(use: (dir: string) => Promise<Result>): Promise<Result> {
  const dir = await makeRepository("soak.git", "--bare");
  try {
    return await use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
