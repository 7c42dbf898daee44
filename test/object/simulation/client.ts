/** A client with a clone: reads the refs, makes commits, pushes them. */
import { GitError, isGitError } from "../../../src/base/format/errors.ts";
import { toHex } from "../../../src/base/format/oid.ts";
import type { RefList } from "../../../src/contract/fetch.ts";
import type { PackSource } from "../../../src/object/state/push.ts";
import type { PushResult } from "../../../src/contract/push.ts";
import { type MadeObject, makeObject } from "../../harness/pack-builder.ts";
import type { Random } from "../../harness/random.ts";
import { ANYONE } from "../../harness/requester.ts";
import { tellPush } from "../pushing.ts";
import { fromHex } from "../stored-repository.ts";
import { type History, type NewCommit, noise } from "./history.ts";
import { Inspection } from "./inspection.ts";
import type { ModelCommand, RefModel, RefState } from "./ref-model.ts";
import type { Answer, World } from "./world.ts";

const NULL_HEX = "0".repeat(40);

/** What the clients of a run share. */
export interface Run {
  readonly seed: number;
  readonly world: World;
  readonly history: History;
  readonly model: RefModel;
  readonly random: Random;
  /** Objects that came only in refused pushes. */
  readonly forbidden: Set<string>;
  /** Whether the network neither truncates packs nor loses answers. */
  isNetworkGood: boolean;
  /** Whether a client has asked to delete the repository. */
  isDeleting: boolean;
  /** Commits requested through the API, by their message: what each must be. */
  readonly asked: Map<string, (commit: string) => string | null>;
  /** Returns a new number each time. */
  nextNumber(): number;
  readonly fail: (reason: string) => void;
  readonly count: (what: string) => void;
}

/** What a client saw, and when. */
export interface View {
  readonly refs: ReadonlyMap<string, string>;
  readonly isThere: boolean;
  /** In the model's time. */
  readonly moment: number;
}

/** A push to be made. */
export interface PushPlan {
  readonly commands: readonly ModelCommand[];
  readonly atomic: boolean;
  /** Null: only deletions. */
  readonly pack: Buffer | null;
  /** Whether what it creates must be refused. */
  readonly isFlawed: boolean;
  /** Whether it relies on objects that no ref reached when it was planned. */
  readonly isDaring: boolean;
}

/** One client. */
export class Client {
  readonly name: string;
  readonly run: Run;
  /** All ids that it ever saw on the server. */
  readonly seen = new Set<string>();

  constructor(name: string, run: Run) {
    this.name = name;
    this.run = run;
  }

  /** Lists the refs. @returns null without an answer */
  async look(): Promise<View | null> {
    const { model, world } = this.run;
    const deed = { kind: "look" as const, state: undefined as RefState | null | undefined };
    const act = model.begin(this.name, deed);
    const answer = await world.request(
      (repository) => repository.refs([]),
      async (answer) => {
        model.end(act);
        if (answer.kind !== "done") return;
        deed.state = toState(answer.value);
        await adopt(this.run, deed.state?.refs.values() ?? []);
      },
    );
    if (answer.kind === "failed") this.run.fail(`${this.name}: ls-refs failed: ${String(answer.error)}`);
    if (deed.state === undefined) return null;
    const refs = deed.state?.refs ?? new Map<string, string>();
    for (const oid of refs.values()) this.seen.add(oid);
    return { refs, isThere: deed.state !== null, moment: act.begin };
  }

  /** Makes a commit on top of another. @param parent null: the first */
  makeCommit(parent: string | null): NewCommit {
    const { history, random, seed } = this.run;
    const files = new Map(parent === null ? [] : history.files(parent));
    const blobs: MadeObject[] = [];
    const nonce = `${this.name} ${seed} ${this.run.nextNumber()}`;
    for (let i = random.below(3); i >= 0; i--) {
      const path = this.#choosePath();
      if (files.size > 3 && random.below(6) === 0) {
        files.delete(random.pick([...files.keys()]));
        continue;
      }
      const before = history.get(files.get(path) ?? "")?.content;
      const text = before === undefined || before.length > 5_000 ? "" : before.toString();
      const blob = random.below(5) === 0 ? noise(random.below(16)) : makeObject("blob", `${text}${nonce} ${i}\n`);
      files.set(path, blob.oid);
      blobs.push(blob);
    }
    return history.makeCommit(files, parent === null ? [] : [parent], nonce, blobs);
  }

  #choosePath(): string {
    const { random } = this.run;
    const name = `f${random.below(6)}`;
    return random.below(2) === 0 ? name : `d${random.below(3)}/${name}`;
  }

  /** Pushes, and checks the answer. @returns whether all refs moved; null: no answer */
  async push(plan: PushPlan, view: View): Promise<boolean | null> {
    const { run } = this;
    const { model, world, history } = run;
    const { commands, atomic } = plan;
    const deed = {
      kind: "push" as const,
      commands,
      atomic,
      errors: null as readonly (string | null)[] | null,
      mayMiss: true,
      rewinds: commands.some(({ old, next }) => old !== null && (next === null || !isForward(history, old, next))),
    };
    const act = model.begin(this.name, deed);
    const faults = world.bucket.faults;
    const source = plan.pack === null ? null : new SlowPack(run, plan.pack);
    let result: PushResult | null = null;
    const answer = await world.request(
      (repository) =>
        repository.receive({
          requester: ANYONE,
          commands: commands.map(({ name, old, next }) => ({
            name,
            old: fromHex(old ?? NULL_HEX),
            new: fromHex(next ?? NULL_HEX),
          })),
          atomic,
          pushOptions: [],
          shallow: [],
          pack: source,
          agent: null,
          progress: () => undefined,
        }),
      (answer) => {
        model.end(act);
        deed.mayMiss =
          plan.isFlawed || plan.isDaring || source?.isCut === true || model.isRewound(view.moment, model.moment);
        if (answer.kind !== "done") return;
        result = answer.value;
        // The network may lose an answer.
        if (!run.isNetworkGood && run.random.below(40) === 0) world.note(`${this.name} does not hear the answer`);
        else deed.errors = tellPush(result).refs.map(({ error }) => error);
      },
    );
    this.#checkFailure(answer, source?.isCut === true || world.bucket.faults > faults);
    const told = show(commands, deed.errors);
    world.note(`${this.name} pushes${atomic ? " atomically" : ""}: ${told} (${answer.kind})`);
    run.count(answer.kind === "done" ? "push" : `push ${answer.kind}`);
    if (deed.errors === null) return null;
    if (deed.errors.some((error) => error?.startsWith("missing") || error === "unpacker error"))
      run.count("push refused");
    if (plan.isFlawed && commands.some(({ next }, i) => next !== null && deed.errors![i] === null)) {
      run.fail(`${this.name}: a flawed push moved a ref: ${told}`);
    }
    return deed.errors.every((error) => error === null);
  }

  #checkFailure(answer: Answer<PushResult>, isExcused: boolean): void {
    if (answer.kind !== "failed") return;
    const { error } = answer;
    this.run.world.note(`${this.name}: ${String(error)}`);
    if (isExcused) return;
    // What it reads is being erased, too.
    if (this.run.isDeleting && (isGitError(error, "not-found") || isGitError(error, "storage-failed"))) return;
    this.run.fail(`${this.name}: a push failed: ${String(error)}`);
  }
}

function show(commands: readonly ModelCommand[], errors: readonly (string | null)[] | null): string {
  const short = (oid: string | null): string => oid?.slice(0, 6) ?? "-";
  return commands
    .map(
      ({ name, old, next }, i) =>
        `${name} ${short(old)}..${short(next)} ${errors === null ? "?" : (errors[i] ?? "ok")}`,
    )
    .join("; ");
}

/** Adds commits that the server made to the history, and checks that they are what was
 * requested. */
export async function adopt({ world, history, asked, fail }: Run, oids: Iterable<string>): Promise<void> {
  const unseen = [...oids].filter((oid) => history.get(oid) === undefined);
  if (unseen.length === 0) return;
  const adopted = await new Inspection(world.sql, world.bucket.objects).adopt(unseen, history);
  for (const oid of adopted) {
    if (history.demand(oid).type !== "commit") continue;
    const nonce = history.message(oid);
    const check = asked.get(nonce);
    const reason = check === undefined ? "nobody asked for it" : check(oid);
    if (reason !== null) fail(`commit ${oid} (${nonce}): ${reason}`);
  }
}

/** Whether moving a ref from one to the other keeps all commits. */
function isForward(history: History, old: string, next: string): boolean {
  return history.closure([next]).has(old);
}

function toState(list: RefList | null): RefState | null {
  if (list === null) return null;
  return {
    refs: new Map(list.names.map((name, i) => [name, toHex(list.oids, i * 20)])),
    head: list.head?.target ?? null,
  };
}

/** A pack as a network delivers it: in pieces, sometimes slowly, and sometimes truncated. */
class SlowPack implements PackSource {
  readonly #run: Run;
  readonly #pack: Buffer;
  readonly #cutAt: number;
  #at = 0;

  constructor(run: Run, pack: Buffer) {
    this.#run = run;
    this.#pack = pack;
    this.#cutAt = !run.isNetworkGood && run.random.below(25) === 0 ? run.random.below(pack.length + 1) : Infinity;
  }

  /** Whether it is truncated. What it creates may be refused before its end is noticed. */
  get isCut(): boolean {
    return this.#cutAt !== Infinity;
  }

  async read(minimumBytes: number): Promise<Uint8Array | null> {
    const { random, world } = this.#run;
    const pack = this.#pack;
    await world.time.sleep(random.below(random.below(30) === 0 ? 20_000 : 60));
    if (this.#at >= this.#cutAt) throw new GitError("bad-request", { what: "the body", reason: "it is cut" });
    if (this.#at >= pack.length) return null;
    const pieceBytes = Math.max(minimumBytes, random.pick([400, 70_000, 1_000_000]));
    const piece = pack.subarray(this.#at, Math.min(this.#at + pieceBytes, this.#cutAt)).slice();
    this.#at += piece.length;
    return piece;
  }
}
