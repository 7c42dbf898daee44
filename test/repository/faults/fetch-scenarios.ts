import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../../src/format/limits.ts";
import { deliverPack } from "../../../src/protocol/pack-delivery.ts";
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

/** The body of a clone's response, as a Worker makes it, or has it made, or finds it. */
async function readClone({ repository }: World): Promise<Buffer> {
  const wants = fromHex(second.commit.oid);
  const outcome = await repository.repository.fetch({ ...CLONE_REQUEST, wants, framing: "bare" });
  assert.ok(outcome.kind === "negotiated" && outcome.pack !== null);
  const context = {
    source: repository.repository,
    limits: DEFAULT_LIMITS,
    chunks: repository.chunks,
    codec: nodeCodec,
    observe: () => undefined,
    waitUntil: () => undefined,
  };
  const framing = { bandDataBytes: null, progress: false };
  const response = await deliverPack(outcome.pack, new Uint8Array(0), context, framing);
  return Buffer.from(await response.arrayBuffer());
}

/** Packs that git took, by their bytes: the same ones come again and again. */
const sound = new Set<string>();

/** A clone that fails, or is right; a client notices what is neither. */
const clone: Step = {
  name: "clone",
  async run(world) {
    const pack = await readClone(world);
    if (sound.has(pack.toString("latin1"))) return;
    const dir = await makeRepository("clone.git", "--bare");
    const { code, stderr } = await tryGit(dir, ["index-pack", "--stdin"], { stdin: pack });
    if (code !== 0) throw new Error(`the client finds: ${stderr}`);
    assert.equal((await tryGit(dir, ["rev-list", "--objects", second.commit.oid])).code, 0);
    sound.add(pack.toString("latin1"));
  },
};

/** Clones, of which the second is stored and the third finds it. */
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
    // What is flipped while a response is stored, every client gets until the response is forgotten.
    without: ["flip"],
  },
];
