/** A client that works through the API: commits, merges, moves and deletes refs. */
import { GitError, isGitError } from "../../../src/base/format/errors.ts";
import { ANYONE } from "../../harness/requester.ts";
import { makeObject, PERSON } from "../../harness/pack-builder.ts";
import { adopt, Client, type View } from "./client.ts";
import type { ModelCommand } from "./ref-model.ts";
import type { CallName } from "../../../src/contract/calls.ts";

/** Refusals of a call that are no error of the server. */
const REFUSALS = ["conflict", "not-found", "stale"] as const;

const IDENT = { name: "Ada Example", email: "ada@example.com", timeSeconds: 1_700_000_000, zone: "+0100" };

/** The answer of calls that make a commit. */
interface Made {
  readonly kind: string;
  readonly commit: string;
}

/** Changes branches through `Repository.call`. */
export class Author extends Client {
  /** Branches, without `refs/heads/`. */
  branches: readonly string[] = [];

  async work(rounds: number): Promise<void> {
    const { random, world } = this.run;
    for (let round = 0; round < rounds; round++) {
      await world.time.sleep(random.below(5_000));
      const view = await this.look();
      if (view === null) continue;
      const branch = random.pick(this.branches);
      const choice = random.below(10);
      if (choice < 6) await this.#commit(view, branch);
      else if (choice < 8) await this.#merge(view, branch);
      else await this.#move(view, branch);
    }
  }

  async #commit(view: View, branch: string): Promise<void> {
    const { random, history, asked } = this.run;
    const nonce = `${this.name} ${this.run.nextNumber()}`;
    const path = random.below(2) === 0 ? `${this.name}` : `d${random.below(3)}/f${random.below(6)}`;
    const content = `${nonce}\n`.repeat(1 + random.below(30));
    const blob = history.add(makeObject("blob", content));
    const tip = view.refs.get(`refs/heads/${branch}`) ?? null;
    const base = tip !== null && random.below(3) === 0 ? tip : null;
    asked.set(nonce, (commit) => {
      const [tree, parent, ...others] = history.links(commit);
      const files = new Map(parent === undefined ? [] : history.files(parent)).set(path, blob.oid);
      if (others.length > 0) return "it has several parents";
      if (history.makeTrees(files).at(-1)!.oid !== tree) return "its files are not those of its parent and the change";
      const head = history.demand(commit).content.toString("latin1").split("\n\n")[0]!;
      return head.endsWith(`\nauthor ${PERSON}\ncommitter ${PERSON}`) ? null : "it names somebody else";
    });
    await this.#change("commit", nonce, branch, {
      branch,
      startPoint: null,
      base,
      onConflict: random.pick(["merge", "fail"]),
      message: `${nonce}\n`,
      author: IDENT,
      committer: IDENT,
      allowEmpty: false,
      operations: [{ op: "put", path, content: new Uint8Array(Buffer.from(content)), mode: null }],
    });
  }

  async #merge(view: View, branch: string): Promise<void> {
    const { random, history, asked } = this.run;
    if (view.refs.size === 0) return;
    const head = history.peel(random.pick([...view.refs.values()]));
    const nonce = `${this.name} ${this.run.nextNumber()}`;
    asked.set(nonce, (commit) => {
      const [, ours, theirs, ...others] = history.links(commit);
      if (theirs !== head || others.length > 0) return "its parents are not those of the merge";
      const [a, b, merged] = [ours!, theirs, commit].map((oid) => history.files(oid));
      for (const path of new Set([...a!.keys(), ...b!.keys(), ...merged!.keys()])) {
        const values = [a!.get(path), b!.get(path)];
        if (!values.includes(merged!.get(path))) return `${path} is of neither side`;
      }
      return null;
    });
    await this.#change("merge", nonce, branch, {
      branch,
      head,
      source: null,
      expected: random.below(3) === 0 ? (view.refs.get(`refs/heads/${branch}`) ?? null) : null,
      fastForward: "never",
      isDryRun: false,
      message: `${nonce}\n`,
      author: IDENT,
      committer: IDENT,
    });
  }

  /** Has the server make a commit. */
  async #change(name: CallName, nonce: string, branch: string, argument: unknown): Promise<void> {
    const { model } = this.run;
    const ref = `refs/heads/${branch}`;
    const deed = { kind: "change" as const, ref, nonce, moves: [] as ModelCommand[], isKnown: false };
    const act = model.begin(this.name, deed);
    await this.#call<Made>(name, argument, async (made) => {
      model.end(act);
      if (made === null) return;
      await adopt(this.run, [made.commit]);
      deed.moves = [this.#moveOf(ref, made)];
      deed.isKnown = true;
    });
  }

  #moveOf(name: string, { kind, commit }: Made): ModelCommand {
    if (kind === "unchanged" || kind === "up-to-date") return { name, old: commit, next: commit };
    return { name, old: this.run.history.links(commit)[1] ?? null, next: commit };
  }

  /** Moves, creates or deletes a branch. */
  async #move(view: View, branch: string): Promise<void> {
    const { random, history, model } = this.run;
    const name = `refs/heads/${branch}`;
    const old = view.refs.get(name) ?? null;
    if (view.refs.size === 0) return;
    const isDeletion = old !== null && random.below(2) === 0;
    const next = isDeletion ? null : history.peel(random.pick([...view.refs.values()]));
    if (next === old) return;
    const move: ModelCommand = { name, old, next };
    const deed = {
      kind: "push" as const,
      commands: [move],
      atomic: true,
      errors: null as readonly (string | null)[] | null,
      mayMiss: false,
      rewinds: old !== null,
    };
    const act = model.begin(this.name, deed);
    const argument = isDeletion ? { name, expected: old } : { name, target: next, expected: old, force: true };
    await this.#call(isDeletion ? "deleteRef" : "putRef", argument, (value) => {
      model.end(act);
      if (value !== null) deed.errors = [null];
    });
  }

  /** Calls, and checks the outcome.
   * @param onAnswer receives the result, null: nothing happened, or the outcome is unknown */
  async #call<T>(name: CallName, argument: unknown, onAnswer: (value: T | null) => unknown): Promise<void> {
    const { run } = this;
    const { world } = run;
    const faults = world.bucket.faults;
    const answer = await world.request(
      async (repository) => {
        const outcome = await repository.call(name, argument, ANYONE);
        if (outcome.kind === "failed") throw new GitError(outcome.code, outcome.data);
        if (outcome.kind === "unknown-repository") throw new GitError("not-found", { subject: "repository" });
        return outcome.value;
      },
      (answer) => onAnswer(answer.kind === "done" ? ((answer.value ?? {}) as T) : null),
    );
    const text = answer.kind === "failed" ? String(answer.error) : answer.kind;
    world.note(`${this.name} calls ${name}: ${text}`);
    run.count(answer.kind === "done" ? name : `${name} ${answer.kind}`);
    if (answer.kind !== "failed" || world.bucket.faults > faults || run.isDeleting) return;
    if (!REFUSALS.some((code) => isGitError(answer.error, code))) run.fail(`${this.name}: ${name} failed: ${text}`);
  }
}
