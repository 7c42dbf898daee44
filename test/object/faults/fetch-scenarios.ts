import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { DEFAULT_LIMITS } from "../../../src/base/format/configured-limits.ts";
import { deliverPack } from "../../../src/worker/git/pack-delivery.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";
import { CLONE_REQUEST } from "../clone-request.ts";
import { fromHex, nodeCodec } from "../stored-repository.ts";
import type { Scenario, Step } from "./enumerate.ts";
import { alarms, push } from "./steps.ts";
import { makeVersion } from "./versions.ts";
import { World } from "./world.ts";

const MAIN = "refs/heads/main";
const first = makeVersion(null, "first", 300_000);
const second = makeVersion(first, "second", 100_000);

/** The body of a clone's response (only the pack), whether the Worker makes it, waits for it, or
 * finds it stored. */
export async function readClone({ repository }: World, tip: string): Promise<Buffer> {
  const outcome = await repository.repository.fetch({ ...CLONE_REQUEST, wants: fromHex(tip), framing: "bare" });
  assert.ok(outcome.kind === "negotiated" && outcome.pack !== null);
  const storing: Promise<unknown>[] = [];
  const context = {
    source: repository.repository,
    limits: DEFAULT_LIMITS,
    chunks: repository.chunks,
    codec: nodeCodec,
    observe: () => undefined,
    movedTo: () => null,
    waitUntil: (promise: Promise<unknown>) => void storing.push(promise),
  };
  const framing = { bandDataBytes: null, progress: false };
  try {
    const response = await deliverPack(outcome.pack, new Uint8Array(0), context, framing);
    return Buffer.from(await response.arrayBuffer());
  } finally {
    // A Worker lives until the storing has ended, successfully or not.
    await Promise.allSettled(storing);
  }
}

/** Packs that git accepted, by their bytes: the same ones recur. */
const sound = new Set<string>();

/** Has git index a pack that must hold everything a commit reaches.
 * @throws Error when it does not */
export async function takePack(pack: Buffer, tip: string): Promise<void> {
  const bytes = createHash("sha256").update(pack).digest("hex");
  if (sound.has(bytes)) return;
  const dir = await makeRepository("clone.git", "--bare");
  const { code, stderr } = await tryGit(dir, ["index-pack", "--stdin"], { stdin: pack });
  if (code !== 0) throw new Error(`the client finds: ${stderr}`);
  assert.equal((await tryGit(dir, ["rev-list", "--objects", tip])).code, 0);
  sound.add(bytes);
}

/** A clone that fails, or is correct; a client notices anything else. */
const clone: Step = {
  name: "clone",
  run: async (world) => takePack(await readClone(world, second.commit.oid), second.commit.oid),
};

/** Clones: the second one's response is stored, and the third finds it. */
export const FETCH_SCENARIOS: readonly Scenario[] = [
  {
    name: "clones, the second of which is stored",
    async begin() {
      const world = new World();
      await push({ [MAIN]: first.commit.oid }, first.pack).run(world);
      await push({ [MAIN]: second.commit.oid }, second.pack).run(world);
      return world;
    },
    steps: [clone, clone, clone, alarms(2 * 60 * 60_000)],
  },
];
