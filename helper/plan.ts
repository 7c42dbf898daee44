import { batchesOf, findLocal, linesOf, startGit, writeLines } from "./git.ts";
import { RunningPack } from "./packs.ts";

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
  /** Bytes of its trees, inflated: what they name takes the server's memory. */
  readonly treeBytes: number;
}

/** A step, and its pack if that was begun. */
export interface PlannedStep extends Step {
  readonly pack?: RunningPack;
}

/** How much a step may have. A single commit may bring more. */
export type StepLimits = Pick<Step, "objects" | "bytes" | "treeBytes">;

/** Objects of the first step, at most; the second may have twice as many, and so on: the server
 * begins to index soon, while the others are still being cut. */
const FIRST_OBJECTS = 50_000;

/** A history in steps, each of which needs only those before it. They are cut as they are asked
 * for, one ahead. */
export class Plan {
  readonly #steps: AsyncGenerator<PlannedStep, void, void>;
  /** Those that were cut, and not taken yet. */
  readonly #cut: PlannedStep[] = [];
  #next: Promise<IteratorResult<PlannedStep, void>> | null = null;
  /** Of what was cut so far. */
  count = 0;
  objects = 0;
  bytes = 0;
  /** Whether that is all. */
  isWhole = false;

  private constructor(steps: AsyncGenerator<PlannedStep, void, void>) {
    this.#steps = steps;
  }

  /** Cuts what `wanted` reach and `had` do not.
   * @see planSteps */
  static cut(wanted: readonly string[], had: readonly string[], limits: StepLimits): Plan {
    return new Plan(planSteps(wanted, had, limits));
  }

  /** One step of all that `wanted` reach and `had` do not: its pack is begun, which tells how many
   * objects that is.
   * @param most bytes of it, and of its trees, at most
   * @throws Error when git cannot pack it */
  static async whole(
    wanted: readonly string[],
    had: readonly string[],
    most: Pick<StepLimits, "bytes" | "treeBytes">,
  ): Promise<Plan> {
    const pack = RunningPack.start(wanted, await findLocal(had));
    const { bytes, treeBytes } = most;
    const step = { tips: wanted, covers: [], objects: await pack.count(), bytes, treeBytes, pack };
    const plan = new Plan(nothing());
    plan.#add(step);
    return plan;
  }

  /** Whether the whole history has at most so much. */
  async isWithin({ objects, bytes }: Pick<StepLimits, "objects" | "bytes">): Promise<boolean> {
    const fits = (): boolean => this.objects <= objects && this.bytes <= bytes;
    while (fits() && (await this.#cutNext())) continue;
    return fits();
  }

  /** The first step that was not taken; null: there is none. */
  async first(): Promise<PlannedStep | null> {
    return this.#cut.length > 0 || (await this.#cutNext()) ? this.#cut[0]! : null;
  }

  /** Takes the steps. */
  async *take(): AsyncGenerator<PlannedStep, void, void> {
    while ((await this.first()) !== null) {
      const step = this.#cut.shift()!;
      if (this.#cut.length === 0 && !this.isWhole) void this.#begin();
      yield step;
    }
  }

  /** Cuts no more. */
  async stop(): Promise<void> {
    for (const { pack } of this.#cut) pack?.stop();
    await this.#next?.catch(() => undefined);
    await this.#steps.return();
  }

  #begin(): Promise<IteratorResult<PlannedStep, void>> {
    if (this.#next !== null) return this.#next;
    this.#next = this.#steps.next();
    // Whoever asks for the step is told.
    this.#next.catch(() => undefined);
    return this.#next;
  }

  async #cutNext(): Promise<boolean> {
    if (this.isWhole) return false;
    const { value } = await this.#begin();
    this.#next = null;
    if (value === undefined) {
      this.isWhole = true;
      return false;
    }
    this.#add(value);
    return true;
  }

  #add(step: PlannedStep): void {
    this.#cut.push(step);
    this.count += 1;
    this.objects += step.objects;
    this.bytes += step.bytes;
  }
}

async function* nothing(): AsyncGenerator<never, void, void> {}

/** Cuts what `wanted` reach and `had` do not into steps, the oldest first.
 *
 * Commits are taken with all their parents before them, each with the objects that it is the first
 * to have: so whatever prefix of this order has been sent, it is closed.
 * @param wanted ids of objects that are here
 * @param had ids; those that are not here are ignored */
async function* planSteps(
  wanted: readonly string[],
  had: readonly string[],
  limits: StepLimits,
): AsyncGenerator<Step, void, void> {
  const known = await findLocal(had);
  const cut = new Cut(limits);
  for await (const lines of listObjects(wanted, known)) {
    for (const line of lines) {
      const [type, bytes, storedBytes, ...ids] = line.split(" ") as [string, string, string, ...string[]];
      const [oid, ...parents] = type === "commit" ? ids.filter((id) => id !== "") : [];
      if (oid !== undefined) cut.begin(oid, parents);
      // Tags are sent at the end.
      if (type !== "tag") cut.count(Number(storedBytes), type === "tree" ? Number(bytes) : 0);
    }
    yield* cut.takeSteps();
  }
  cut.finish(await findOthers(wanted, new Set(known)));
  yield* cut.takeSteps();
}

/** Each commit, followed by the objects that are new with it, some lines at a time: the type, bytes
 * inflated and as stored; of a commit its id and its parents' follow. */
async function* listObjects(
  wanted: readonly string[],
  known: readonly string[],
): AsyncGenerator<readonly string[], void, void> {
  const order = ["--topo-order", "--reverse", "--in-commit-order"];
  const form = ["--no-object-names", "--no-commit-header", "--format=%H %H %P"];
  const list = startGit(["rev-list", "--objects", ...form, ...order, "--stdin"]);
  writeLines(list, [...wanted, ...known.map((oid) => `^${oid}`)]);
  const format = "%(objecttype) %(objectsize) %(objectsize:disk) %(rest)";
  const describe = startGit(["cat-file", `--batch-check=${format}`, "--buffer"]);
  list.stdout.pipe(describe.stdin);
  try {
    yield* batchesOf(describe);
    await list.ended;
  } finally {
    list.stop();
    describe.stop();
  }
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

/** What a step, or a commit, has. */
interface Tally {
  objects: number;
  bytes: number;
  treeBytes: number;
}

const newTally = (): Tally => ({ objects: 0, bytes: 0, treeBytes: 0 });

const sumOf = (one: Tally, other: Tally): Tally => ({
  objects: one.objects + other.objects,
  bytes: one.bytes + other.bytes,
  treeBytes: one.treeBytes + other.treeBytes,
});

/** Divides commits among steps as they come. */
class Cut {
  readonly #limits: StepLimits;
  #steps: Step[] = [];
  /** Of the present step, at most. */
  #mostObjects = FIRST_OBJECTS;
  /** The present step's commits without a child so far, and the commits of earlier steps that its
   * own have as parents. */
  #tips = new Set<string>();
  #covers = new Set<string>();
  /** Commits of earlier steps without a child so far. */
  readonly #frontier = new Set<string>();
  /** Of the present step before its newest commit, and of that commit. */
  #before = newTally();
  #newest = newTally();
  #commit: { oid: string; parents: readonly string[] } | null = null;

  constructor(limits: StepLimits) {
    this.#limits = limits;
  }

  /** Begins a commit: what follows is counted as its own. */
  begin(oid: string, parents: readonly string[]): void {
    this.#addCommit();
    this.#commit = { oid, parents };
  }

  count(bytes: number, treeBytes: number): void {
    this.#newest.objects += 1;
    this.#newest.bytes += bytes;
    this.#newest.treeBytes += treeBytes;
  }

  /** Takes the steps that are complete. */
  takeSteps(): Step[] {
    const steps = this.#steps;
    this.#steps = [];
    return steps;
  }

  /** @param others what is to be sent besides commits */
  finish(others: readonly string[]): void {
    this.#addCommit();
    this.#close();
    if (others.length > 0) this.#steps.push({ ...newTally(), tips: others, covers: [], objects: others.length });
  }

  /** Adds the newest commit to the step, or to another one if it does not fit. */
  #addCommit(): void {
    if (this.#commit === null) return;
    if (this.#exceeds(sumOf(this.#before, this.#newest))) this.#close();
    const { oid, parents } = this.#commit;
    for (const parent of parents) {
      this.#tips.delete(parent);
      if (this.#frontier.delete(parent)) this.#covers.add(parent);
    }
    this.#tips.add(oid);
    this.#before = sumOf(this.#before, this.#newest);
    this.#newest = newTally();
    this.#commit = null;
  }

  #exceeds({ objects, bytes, treeBytes }: Tally): boolean {
    const limits = this.#limits;
    return (
      objects > Math.min(limits.objects, this.#mostObjects) || bytes > limits.bytes || treeBytes > limits.treeBytes
    );
  }

  #close(): void {
    if (this.#tips.size === 0) return;
    this.#steps.push({ tips: [...this.#tips], covers: [...this.#covers], ...this.#before });
    this.#mostObjects *= 2;
    for (const tip of this.#tips) this.#frontier.add(tip);
    this.#tips = new Set();
    this.#covers = new Set();
    this.#before = newTally();
  }
}
