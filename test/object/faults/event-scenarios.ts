import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { formatEventId } from "../../../src/base/format/event-id.ts";
import { eventsAfter, isTold } from "../../../src/object/events/events.ts";
import type { OwnedEvent } from "../../../src/object/events/message.ts";
import type { Outside } from "../../../src/object/state/outside.ts";
import type { Scenario } from "./enumerate.ts";
import { alarms, call, push } from "./steps.ts";
import { makeVersion } from "./versions.ts";
import { World } from "./world.ts";

const MAIN = "refs/heads/main";
const SIDE = "refs/heads/side";

const first = makeVersion(null, "first");
const second = makeVersion(first, "second");
const third = makeVersion(second, "third");

/** A world with receivers, which keep the ids of the events that they are told. */
class ToldWorld extends World {
  readonly heard: Record<"webhook" | "queue" | "owner", string[]>;

  constructor() {
    const heard: ToldWorld["heard"] = { webhook: [], queue: [], owner: [] };
    const idOf = (body: string): string => (JSON.parse(body) as { id: string }).id;
    const outside: Partial<Outside> = {
      fetch: async (_, init) => {
        heard.webhook.push(idOf(init!.body as string));
        return new Response(null, { status: 204 });
      },
      sendToQueue: async (body) => void heard.queue.push(idOf(body)),
      tellOwner: async (_, body) => heard.owner.push((JSON.parse(body) as OwnedEvent).event.id) > 0,
    };
    super({}, "none", outside);
    this.heard = heard;
  }

  override restore(): void {
    // A fault that did not occur must not do so now.
    this.disarm();
    for (const told of Object.values(this.heard)) told.length = 0;
    super.restore();
  }
}

async function begin(): Promise<ToldWorld> {
  const world = new ToldWorld();
  await push({ [MAIN]: first.commit.oid }, first.pack).run(world);
  await call("createWebhook", {
    url: "https://ci.example.com/",
    format: "standard",
    events: null,
    origin: "",
    secret: null,
  }).run(world);
  await world.ring(Infinity);
  // After what has happened so far: the repository hears of it with its next report.
  await sleep(2);
  world.owner = { owner: "me", sinceMs: Date.now() };
  return world;
}

const status = (context: string) =>
  call("setStatus", { ref: "main", state: "success", context, description: null, url: null });

/** Events, and who is told of them. */
export const EVENT_SCENARIOS: readonly Scenario<ToldWorld>[] = [
  {
    name: "events, a webhook, a queue and an owner's log",
    begin,
    steps: [
      push({ [MAIN]: second.commit.oid }, second.pack),
      status("ci/tests"),
      status("ci/lint"),
      push({ [MAIN]: third.commit.oid, [SIDE]: first.commit.oid }, third.pack),
      alarms(60_000),
      push({ [SIDE]: null }, null),
    ],
    check({ heard, repository }) {
      const { state } = repository.repository;
      const log = eventsAfter(state, repository.tables, { push: 1, other: 0 }, 100).filter(isTold);
      const ids = log.map(({ id }) => formatEventId(id));
      assert.ok(ids.length >= 5);
      for (const [who, told] of Object.entries(heard)) {
        // None is left out, none invented, and what comes again comes before the next.
        const inOrder = told.filter((id, i) => id !== told[i - 1]);
        assert.deepEqual(inOrder, ids, who);
      }
      const { statuses, objects } = repository.tables;
      const { oid } = objects.find(Buffer.from(second.commit.oid, "hex"))!;
      assert.deepEqual(
        statuses.of(oid).map(({ context, state: found }) => [context, found]),
        [
          ["ci/lint", "success"],
          ["ci/tests", "success"],
        ],
      );
    },
  },
];
