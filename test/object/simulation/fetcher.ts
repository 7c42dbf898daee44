/** A client that clones, then fetches updates, and checks every byte. */
import type { FetchRequest, PackDelivery } from "../../../src/contract/fetch.ts";
import { isGitError } from "../../../src/base/format/errors.ts";
import { streamPack } from "../../../src/base/bytes/pack-stream.ts";
import { PLAN_LIFE_MS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import type { PackPlan } from "../../../src/base/bytes/pack-plan.ts";
import { readPack } from "../../harness/pack-reader.ts";
import { CLONE_REQUEST } from "../clone-request.ts";
import { fromHex, nodeCodec } from "../stored-repository.ts";
import { Client, type View } from "./client.ts";

/** The object that knew about the storing of a response has ended. */
class LostResponse extends Error {}

/** A clone that is kept up to date. */
export class Fetcher extends Client {
  /** What it has: everything that its tips reach. */
  #objects = new Set<string>();
  #tips = new Set<string>();

  async work(rounds: number): Promise<void> {
    const { random, world } = this.run;
    for (let round = 0; round < rounds; round++) {
      await world.time.sleep(random.below(7_000));
      if (random.below(4) === 0) {
        this.#objects.clear();
        this.#tips.clear();
      }
      const view = await this.look();
      if (view !== null) await this.#fetch(view);
    }
  }

  async #fetch(view: View): Promise<void> {
    const { run } = this;
    const { random, world, model } = run;
    const tips = [...new Set(view.refs.values())];
    const wants = (random.below(3) === 0 ? tips.filter(() => random.below(2) === 0) : tips).filter(
      (oid) => !this.#objects.has(oid),
    );
    if (wants.length === 0) return;
    const before = { faults: world.bucket.faults, timeMs: world.time.nowMs };
    const request: FetchRequest = {
      ...CLONE_REQUEST,
      wants: fromHex(wants.join("")),
      haves: fromHex([...this.#tips].join("")),
      thinPack: random.below(2) === 0,
      ofsDelta: random.below(4) > 0,
    };
    const answer = await world.request(
      (repository) => repository.fetch(request),
      () => undefined,
    );
    if (answer.kind === "lost") return run.count("fetch lost");
    const isTroubled = (): boolean =>
      world.bucket.faults > before.faults || world.time.nowMs - before.timeMs > PLAN_LIFE_MS;
    if (answer.kind === "failed") {
      if (!isTroubled()) run.fail(`${this.name}: a fetch failed: ${String(answer.error)}`);
      return;
    }
    const outcome = answer.value;
    if (outcome.kind !== "negotiated") {
      const isExcused = model.isRewound(view.moment, model.moment);
      if (!isExcused) run.fail(`${this.name}: a fetch was refused: ${JSON.stringify(outcome)}`);
      return run.count("fetch refused");
    }
    try {
      this.#take(wants, await this.#receive(outcome.pack!));
      run.count(`fetch ${outcome.pack!.kind}`);
    } catch (error) {
      if (error instanceof LostResponse) return run.count("fetch lost");
      world.note(`${this.name}: ${String(error)}`);
      run.count("fetch broken off");
      if (!(isGitError(error) && (isTroubled() || run.isDeleting))) throw error;
    }
  }

  /** The Worker's part: makes the pack, or stores it for other clients and reads it back. */
  async #receive(pack: PackDelivery): Promise<Buffer> {
    const { world } = this.run;
    const store = world.openWorker();
    if (pack.kind === "plan") return this.#stream(pack.plan);
    if (pack.kind === "awaited") {
      const { objectKey } = pack;
      const answer = await world.request(
        (repository) => repository.awaitResponse(objectKey),
        () => undefined,
      );
      if (answer.kind === "done" && answer.value !== null) return this.#receive(answer.value);
      throw new LostResponse();
    }
    if (pack.kind === "store") {
      const { objectKey, plan } = pack;
      const bytes = await this.#stream(plan);
      const isStored = await store.put(objectKey, bytes).then(
        () => true,
        () => false,
      );
      await this.#settle(objectKey, isStored ? bytes.length : null);
      return bytes;
    }
    const { objectKey, sizeBytes } = pack;
    try {
      return Buffer.from(await store.read(objectKey, 0, sizeBytes));
    } catch (error) {
      await this.#settle(objectKey, null);
      throw error;
    }
  }

  async #settle(objectKey: string, sizeBytes: number | null): Promise<void> {
    await this.run.world.request(
      (repository) => repository.finishResponse(objectKey, sizeBytes),
      () => undefined,
    );
  }

  async #stream(plan: PackPlan): Promise<Buffer> {
    const { world, random } = this.run;
    const slices: Uint8Array[] = [];
    for await (const batch of streamPack(plan, world.openWorker(), nodeCodec)) {
      slices.push(...batch.map((slice) => slice.slice()));
      await world.time.sleep(random.below(random.below(20) === 0 ? 10_000 : 20));
    }
    return Buffer.concat(slices);
  }

  #take(wants: readonly string[], pack: Buffer): void {
    const { run } = this;
    const { history } = run;
    const had = this.#objects;
    const received = readPack(pack, (oid) => (had.has(oid) ? history.demand(oid) : undefined)).map(({ oid }) => oid);
    const wanted = history.closure(wants);
    const extra = received.filter((oid) => !wanted.has(oid));
    if (extra.length > 0) run.fail(`${this.name} got what it did not want: ${extra.join()}`);
    const got = new Set([...had, ...received]);
    const missing = [...wanted].filter((oid) => !got.has(oid));
    if (missing.length > 0) return run.fail(`${this.name} did not get ${missing.join()}`);
    this.#objects = got;
    for (const oid of wants) this.#tips.add(oid);
  }
}
