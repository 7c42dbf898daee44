/** Pushes of every kind, each from a client's last view of the refs. */
import { type MadeObject, makeObject, makeTag } from "../../harness/pack-builder.ts";
import { Client, type PushPlan, type View } from "./client.ts";
import type { ModelCommand } from "./ref-model.ts";

/** Pushes to some refs, which other clients may also use. */
export class Pusher extends Client {
  /** The refs it pushes to. */
  refs: readonly string[] = [];

  /** Pushes so many times, with pauses. */
  async work(rounds: number): Promise<void> {
    const { random, world } = this.run;
    for (let round = 0; round < rounds; round++) {
      await world.time.sleep(random.below(6_000));
      const view = await this.look();
      if (view === null) continue;
      const plan = this.#plan(view);
      if (plan !== null) await this.push(plan, view);
    }
  }

  /** Pushes until it succeeds, while nothing fails. @returns whether it did */
  async pushAfter(ref: string): Promise<boolean> {
    const view = await this.look();
    if (view === null) return false;
    const old = view.refs.get(ref) ?? null;
    const { oid } = this.makeCommit(old ?? this.#chooseCommit([...view.refs.values()]));
    const command = { name: ref, old, next: oid };
    return (await this.push(this.#pack([command], view, { atomic: false }), view)) === true;
  }

  #plan(view: View): PushPlan | null {
    const { random } = this.run;
    const choice = random.below(100);
    if (choice < 45)
      return this.#pack([this.#advance(view, random.pick(this.refs))], view, { atomic: random.below(4) === 0 });
    if (choice < 55) return this.#force(view);
    if (choice < 65) return this.#delete(view);
    if (choice < 80) return this.#several(view);
    if (choice < 86) return this.#tag(view);
    if (choice < 92) return this.#flawed(view);
    return this.#again(view);
  }

  /** One to three commits on a ref, which may be new. */
  #advance(view: View, name: string): ModelCommand {
    const { random } = this.run;
    const old = view.refs.get(name) ?? null;
    let tip = old === null ? this.#chooseCommit([...view.refs.values()]) : this.run.history.peel(old);
    for (let i = random.below(3); i >= 0; i--) tip = this.makeCommit(tip).oid;
    return { name, old: random.below(30) === 0 ? null : old, next: tip! };
  }

  /** Moves a ref elsewhere, so that its commits are lost. */
  #force(view: View): PushPlan | null {
    const { random } = this.run;
    const name = random.pick(this.refs);
    const old = view.refs.get(name) ?? null;
    const base = this.#chooseCommit([...view.refs.values()]);
    if (base === null) return null;
    return this.#pack([{ name, old, next: this.makeCommit(base).oid }], view, { atomic: false });
  }

  #delete(view: View): PushPlan | null {
    const { random } = this.run;
    const names = this.refs.filter((name) => view.refs.has(name));
    if (names.length === 0) return null;
    const name = random.pick(names);
    return this.#pack([{ name, old: view.refs.get(name)!, next: null }], view, { atomic: false });
  }

  #several(view: View): PushPlan {
    const { random } = this.run;
    const names = random.shuffled(this.refs).slice(0, 2 + random.below(3));
    const commands = names.map((name) => {
      const old = view.refs.get(name);
      return old !== undefined && random.below(4) === 0 ? { name, old, next: null } : this.#advance(view, name);
    });
    return this.#pack(commands, view, { atomic: random.below(3) > 0 });
  }

  #tag(view: View): PushPlan | null {
    const { history } = this.run;
    const target = this.#chooseCommit([...view.refs.values()]);
    if (target === null) return null;
    const name = `${this.name}-${this.run.nextNumber()}`;
    const tag = history.add(makeTag(history.demand(target), "commit", name));
    return this.#pack([{ name: `refs/tags/${name}`, old: null, next: tag.oid }], view, { atomic: false });
  }

  /** A commit without one of its objects, or a pack with a wrong byte; beside it, perhaps, a valid
   * ref. */
  #flawed(view: View): PushPlan | null {
    const { random, history, forbidden } = this.run;
    const command = this.#advance(view, random.pick(this.refs));
    const plan = this.#pack([command], view, { atomic: false });
    const stray = makeObject("blob", `${this.name} forbidden ${this.run.nextNumber()}\n`);
    history.add(stray);
    const had = history.closure(view.refs.values());
    const files = new Map([...history.files(command.next!), ["stray", stray.oid]]);
    const broken = history.makeCommit(
      files,
      [history.peel(command.next!)],
      `${this.name} ${this.run.nextNumber()}`,
      [],
    );
    forbidden.add(broken.oid);
    const name = command.name;
    const objects = [...history.closure([broken.oid], had)].filter((oid) => oid !== stray.oid);
    if (random.below(2) === 0) {
      const pack = history.pack(
        objects.map((oid) => history.demand(oid)),
        had,
        random,
      );
      return { ...plan, commands: [{ name, old: command.old, next: broken.oid }], pack, isFlawed: true };
    }
    const pack = history.pack(
      [...objects, stray.oid].map((oid) => history.demand(oid)),
      had,
      random,
    );
    pack[12 + random.below(pack.length - 12)]! ^= 1 << random.below(8);
    return { ...plan, commands: [{ name, old: command.old, next: broken.oid }], pack, isFlawed: true };
  }

  /** A former object, assumed to exist: nothing that this client ever saw on the server is sent. */
  #again(view: View): PushPlan | null {
    const { random, history } = this.run;
    if (this.seen.size === 0) return null;
    const name = random.pick(this.refs);
    const oid = history.peel(random.pick([...this.seen]));
    const next = random.below(2) === 0 ? oid : this.makeCommit(oid).oid;
    const had = history.closure(this.seen);
    const objects = [...history.closure([next], had)].map((oid) => history.demand(oid));
    return {
      commands: [{ name, old: view.refs.get(name) ?? null, next }],
      atomic: false,
      pack: history.pack(objects, had, random),
      isFlawed: false,
      isDaring: true,
    };
  }

  /** A pack of everything that the refs in view do not reach. */
  #pack(commands: readonly ModelCommand[], view: View, { atomic }: { atomic: boolean }): PushPlan {
    const { history, random } = this.run;
    const tips = commands.map(({ next }) => next).filter((next) => next !== null);
    const had = history.closure(view.refs.values());
    const objects: MadeObject[] = [...history.closure(tips, had)].map((oid) => history.demand(oid));
    if (random.below(10) === 0)
      objects.push(history.add(makeObject("blob", `loose ${this.name} ${this.run.nextNumber()}\n`)));
    const pack = tips.length === 0 ? null : history.pack(objects, had, random);
    return { commands, atomic, pack, isFlawed: false, isDaring: false };
  }

  #chooseCommit(oids: readonly string[]): string | null {
    const { random, history } = this.run;
    if (oids.length === 0) return null;
    let oid = history.peel(random.pick(oids));
    for (let i = random.below(3); i > 0; i--) oid = history.links(oid)[1] ?? oid;
    return oid;
  }
}
