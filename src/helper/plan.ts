import { findLocal, linesOf, startGit, writeLines } from "./git.ts";

/** Part of a history that is sent as one pack. */
export interface Step {
  /** Its newest commits: those without a child in it. For the last step, tags and what else is no
   * commit. */
  readonly tips: readonly string[];
  /** Commits of earlier steps that are parents of its own. */
  readonly covers: readonly string[];
  /** Estimates: objects, and bytes as they are stored here. */
  readonly objects: number;
  readonly bytes: number;
}

/** How much a step may have. A single commit may bring more. */
export interface StepLimits {
  readonly objects: number;
  readonly bytes: number;
}

/** A history in steps, each of which needs only those before it. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly objects: number;
  readonly bytes: number;
}

/** Cuts what `wanted` reach and `had` do not into steps, the oldest first.
 *
 * Commits are taken with all their parents before them, each with the objects that it is the first
 * to have: so whatever prefix of this order has been sent, it is closed.
 * @param wanted ids of objects that are here
 * @param had ids; those that are not here are ignored */
export async function planSteps(wanted: readonly string[], had: readonly string[], limits: StepLimits): Promise<Plan> {
  const known = await findLocal(had);
  const cut = new Cut(limits);
  for await (const { type, bytes, parents, oid } of listObjects(wanted, known)) {
    if (type === "commit") cut.begin(oid, parents);
    cut.count(type, bytes);
  }
  return cut.finish(await findOthers(wanted, new Set(known)));
}

interface Listed {
  readonly type: string;
  readonly bytes: number;
  readonly oid: string;
  /** Of a commit. */
  readonly parents: readonly string[];
}

/** Each commit, followed by the objects that are new with it. */
async function* listObjects(wanted: readonly string[], known: readonly string[]): AsyncGenerator<Listed> {
  const order = ["--topo-order", "--reverse", "--in-commit-order", "--parents"];
  const list = startGit(["rev-list", "--objects", "--no-object-names", ...order, "--stdin"]);
  writeLines(list, [...wanted, ...known.map((oid) => `^${oid}`)]);
  const format = "%(objecttype) %(objectsize:disk) %(objectname) %(rest)";
  const describe = startGit(["cat-file", `--batch-check=${format}`, "--buffer"]);
  list.stdout.pipe(describe.stdin);
  for await (const line of linesOf(describe)) {
    const [type, bytes, oid, ...parents] = line.trimEnd().split(" ") as [string, string, string, ...string[]];
    yield { type, bytes: Number(bytes), oid, parents };
  }
  await list.ended;
}

/** Those of the wanted objects that are no commits, and are not known to be there. */
async function findOthers(wanted: readonly string[], known: ReadonlySet<string>): Promise<string[]> {
  const child = startGit(["cat-file", "--batch-check=%(objecttype) %(objectname)", "--buffer"]);
  writeLines(child, new Set(wanted));
  const others: string[] = [];
  for await (const line of linesOf(child)) {
    const [type, oid] = line.split(" ") as [string, string];
    if (type !== "commit" && !known.has(oid)) others.push(oid);
  }
  return others;
}

/** Divides commits among steps as they come. */
class Cut {
  readonly #limits: StepLimits;
  readonly #steps: Step[] = [];
  /** The present step's commits without a child so far, and the commits of earlier steps that its
   * own have as parents. */
  #tips = new Set<string>();
  #covers = new Set<string>();
  /** Commits of earlier steps without a child so far. */
  readonly #frontier = new Set<string>();
  /** Of the present step before its newest commit, and of that commit. */
  #before = { objects: 0, bytes: 0 };
  #newest = { objects: 0, bytes: 0 };
  #commit: { oid: string; parents: readonly string[] } | null = null;

  constructor(limits: StepLimits) {
    this.#limits = limits;
  }

  /** Begins a commit: what follows is counted as its own. */
  begin(oid: string, parents: readonly string[]): void {
    this.#addCommit();
    this.#commit = { oid, parents };
  }

  count(type: string, bytes: number): void {
    // Tags are sent at the end.
    if (type === "tag") return;
    this.#newest.objects += 1;
    this.#newest.bytes += bytes;
  }

  /** @param others what is to be sent besides commits */
  finish(others: readonly string[]): Plan {
    this.#addCommit();
    this.#close();
    if (others.length > 0) this.#steps.push({ tips: others, covers: [], objects: others.length, bytes: 0 });
    const sum = (of: "objects" | "bytes"): number => this.#steps.reduce((total, step) => total + step[of], 0);
    return { steps: this.#steps, objects: sum("objects"), bytes: sum("bytes") };
  }

  /** Adds the newest commit to the step, or to another one if it does not fit. */
  #addCommit(): void {
    if (this.#commit === null) return;
    const { objects, bytes } = this.#newest;
    const isFull =
      this.#before.objects + objects > this.#limits.objects || this.#before.bytes + bytes > this.#limits.bytes;
    if (isFull) this.#close();
    const { oid, parents } = this.#commit;
    for (const parent of parents) {
      this.#tips.delete(parent);
      if (this.#frontier.delete(parent)) this.#covers.add(parent);
    }
    this.#tips.add(oid);
    this.#before = { objects: this.#before.objects + objects, bytes: this.#before.bytes + bytes };
    this.#newest = { objects: 0, bytes: 0 };
    this.#commit = null;
  }

  #close(): void {
    if (this.#tips.size === 0) return;
    this.#steps.push({ tips: [...this.#tips], covers: [...this.#covers], ...this.#before });
    for (const tip of this.#tips) this.#frontier.add(tip);
    this.#tips = new Set();
    this.#covers = new Set();
    this.#before = { objects: 0, bytes: 0 };
  }
}
