import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../../src/base/format/configured-limits.ts";
import { advertiseReceivePack } from "../../../src/worker/git/advertise-push.ts";
import { receivePack } from "../../../src/object/receive/serve-push.ts";
import type { Outside } from "../../../src/object/state/outside.ts";
import { packOf } from "../../harness/pack-builder.ts";
import { ANYONE } from "../../harness/requester.ts";
import { NOTHING_OUTSIDE, PushedRepository } from "../pushing.ts";
import type { Scenario } from "./enumerate.ts";
import { alarms, call, push } from "./steps.ts";
import { makeFat, makeVersion } from "./versions.ts";
import { World } from "./world.ts";

const MAIN = "refs/heads/main";
const SIDE = "refs/heads/side";
const DAY_MS = 24 * 60 * 60_000;
const URL_OF_TARGET = "https://git.example.com/ada/engine.git";

const first = makeVersion(null, "first");
const second = makeVersion(first, "second");
const fat = makeFat(second.commit.oid, "fat", 300_000);

/** Another host's repository, where nothing fails. */
class Target {
  repository = new PushedRepository();

  get outside(): Partial<Outside> {
    return { imports: { ...NOTHING_OUTSIDE.imports, fetch: (url, init) => this.#answer(new Request(url, init)) } };
  }

  async #answer(request: Request): Promise<Response> {
    const { repository } = this.repository;
    const place = { name: "ada/engine", movedTo: null };
    const answer = request.url.includes("/info/refs")
      ? await advertiseReceivePack(request, { source: repository }, true)
      : await receivePack(request, repository, DEFAULT_LIMITS, ANYONE, place);
    // As bytes, like every answer that comes over the network.
    return new Response(await answer.arrayBuffer(), answer);
  }
}

const target = new Target();

/** Mirrors whose repository fails, and dies. */
export const MIRROR_SCENARIOS: readonly Scenario[] = [
  {
    name: "mirror: what is pushed goes on, whatever fails",
    async begin() {
      const world = new World({}, "none", target.outside);
      await push({ [MAIN]: first.commit.oid, [SIDE]: first.commit.oid }, first.pack).run(world);
      return world;
    },
    steps: [
      call("createMirror", {
        url: URL_OF_TARGET,
        authorization: null,
        prefixes: ["refs/heads/"],
        force: true,
        prune: true,
        maxPackBytes: null,
        sendsLfs: false,
      }),
      alarms(1_000),
      push({ [MAIN]: second.commit.oid, [SIDE]: null }, second.pack),
      alarms(1_000),
      push({ "refs/heads/fat": fat.at(-1)!.oid }, packOf(...fat)),
      alarms(DAY_MS),
    ],
    check({ repository }) {
      const [sent, here] = [target.repository.refs(), repository.refs()];
      const records = repository.tables.mirrors.all();
      const known = records.map(({ id }) => [...repository.tables.mirrors.refs(id)].map(({ name }) => name));
      // The next run begins with an empty one.
      target.repository = new PushedRepository();
      assert.deepEqual(sent, here);
      assert.ok(records.length > 0);
      for (const { error, failures, refused } of records) assert.deepEqual([error, failures, refused], [null, 0, 0]);
      for (const names of known) assert.deepEqual(names, [...here.keys()].sort());
    },
  },
];
