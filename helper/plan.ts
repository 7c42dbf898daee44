import { batchesOf, findLocal, linesOf, startGit, writeLines } from "./git.ts";
import { RunningPack } from "./packs.ts";

/** Part of a history that is sent as one pack. */
export interface Step {
  /** Newest commits of the step: those without a child in it. For the last step, tags and other
   * objects that are not commits. */
  readonly tips: readonly string[];
  /** Commits of earlier steps that are parents of this step's commits. */
  readonly covers: readonly string[];
  /** Estimates: objects, and bytes as stored here. */
  readonly objects: number;
  readonly bytes: number;
  /** Size of its trees in bytes, inflated: the entries of trees take the server's memory. */
  readonly treeBytes: number;
}

/** A step, and its pack if it was started. */
export interface PlannedStep extends Step {
  readonly pack?: RunningPack;
}

/** Limits of a step. A single commit may exceed them. */
export type StepLimits = Pick<Step, "objects" | "bytes" | "treeBytes">;

/** Object limit of the first step; the limit doubles with each step, so that the server begins to
 * index early, while later steps are still planned. */
const FIRST_OBJECTS = 50_000;

/** Divides a history into steps, each of which needs only earlier ones. A step is planned when it
 * is requested, and one is planned ahead. */
export class Plan {
  readonly #steps: AsyncGenerator<PlannedStep, void, void>;
  /** Steps that were planned, and not taken yet. */
  readonly #cut: PlannedStep[] = [];
  #next: Promise<IteratorResult<PlannedStep, void>> | null = null;
  /** Totals of the steps planned so far. */
  count = 0;
  objects = 0;
  bytes = 0;
  /** Whether all steps are planned. */
  isWhole = false;

  private constructor(steps: AsyncGenerator<PlannedStep, void, void>) {
    this.#steps = steps;
  }

  /** Plans the objects that `wanted` reach and `had` do not.
   * @see planSteps */
  static cut(wanted: readonly string[], had: readonly string[], limits: StepLimits): Plan {
    return new Plan(planSteps(wanted, had, limits));
  }

  /** Plans a single step of all objects that `wanted` reach and `had` do not. Its pack is started,
   * since that gives the number of objects.
   * @param most its size in bytes, and that of its trees, at most
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

  /** Whether the whole history is within limits. */
  async isWithin({ objects, bytes }: Pick<StepLimits, "objects" | "bytes">): Promise<boolean> {
    const fits = (): boolean => this.objects <= objects && this.bytes <= bytes;
    while (fits() && (await this.#cutNext())) continue;
    return fits();
  }

  /** Returns the first step that was not taken; null: none. */
  async first(): Promise<PlannedStep | null> {
    return this.#cut.length > 0 || (await this.#cutNext()) ? this.#cut[0]! : null;
  }

  /** Yields the steps, and takes each. */
  async *take(): AsyncGenerator<PlannedStep, void, void> {
    while ((await this.first()) !== null) {
      const step = this.#cut.shift()!;
      if (this.#cut.length === 0 && !this.isWhole) void this.#begin();
      yield step;
    }
  }

  /** Stops planning. */
  async stop(): Promise<void> {
    for (const { pack } of this.#cut) pack?.stop();
    await this.#next?.catch(() => undefined);
    await this.#steps.return();
  }

  #begin(): Promise<IteratorResult<PlannedStep, void>> {
    if (this.#next !== null) return this.#next;
    this.#next = this.#steps.next();
    // The caller that requests the step gets the error.
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

/** Divides the objects that `wanted` reach and `had` do not into steps, the oldest first.
 *
 * Commits come after all their parents, each with the objects that it introduces. So any prefix of
 * this order is closed: it reaches only its own objects.
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

/** Lists each commit, followed by the objects that it introduces, in batches of lines: the type,
 * bytes inflated and as stored; for a commit also its id and its parents'. */
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

/** Returns the wanted objects that are not commits, unless the server is known to have them. */
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

/** Totals of a step or a commit. */
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
  /** Object limit of the current step. */
  #mostObjects = FIRST_OBJECTS;
  /** The current step's commits without a child so far, and the commits of earlier steps that are
   * parents of its commits. */
  #tips = new Set<string>();
  #covers = new Set<string>();
  /** Commits of earlier steps without a child so far. */
  readonly #frontier = new Set<string>();
  /** Totals of the current step without its newest commit, and of that commit. */
  #before = newTally();
  #newest = newTally();
  #commit: { oid: string; parents: readonly string[] } | null = null;

  constructor(limits: StepLimits) {
    this.#limits = limits;
  }

  /** Begins a commit: the following objects are counted as its own. */
  begin(oid: string, parents: readonly string[]): void {
    this.#addCommit();
    this.#commit = { oid, parents };
  }

  count(bytes: number, treeBytes: number): void {
    this.#newest.objects += 1;
    this.#newest.bytes += bytes;
    this.#newest.treeBytes += treeBytes;
  }

  /** Returns the completed steps, and forgets them. */
  takeSteps(): Step[] {
    const steps = this.#steps;
    this.#steps = [];
    return steps;
  }

  /** @param others objects to send besides commits */
  finish(others: readonly string[]): void {
    this.#addCommit();
    this.#close();
    if (others.length > 0) this.#steps.push({ ...newTally(), tips: others, covers: [], objects: others.length });
  }

  /** Adds the newest commit to the step, or to a new step if it does not fit. */
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
