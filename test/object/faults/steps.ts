import assert from "node:assert/strict";
import { GitError } from "../../../src/base/format/errors.ts";
import type { JobKind } from "../../../src/contract/upkeep.ts";
import { ANYONE } from "../../harness/requester.ts";
import type { HexCommand, PushOptions } from "../pushing.ts";
import type { Step } from "./enumerate.ts";
import type { World } from "./world.ts";
import type { CallName } from "../../../src/contract/calls.ts";

/** A push as git makes it: of the refs that differ.
 * @param refs ids by name, null: to be deleted */
export function push(
  refs: Readonly<Record<string, string | null>>,
  pack: Uint8Array | null,
  options: PushOptions = {},
): Step {
  return {
    name: "push",
    async run(world) {
      const { repository } = world;
      const commands = commandsOf(await world.refs(), refs);
      if (commands.length === 0) return;
      const result = await repository.receive(commands, pack, options);
      assert.deepEqual([result.unpack, ...result.refs.map(({ error }) => error)], ["ok", ...commands.map(() => null)]);
    },
  };
}

/** A push that is refused in part.
 * @param refused names of the refs that do not move; all, when the pack itself is at fault */
export function refusedPush(
  refs: Readonly<Record<string, string | null>>,
  pack: Uint8Array | null,
  refused: readonly string[],
  options: PushOptions = {},
): Step {
  return {
    name: "refused push",
    async run(world) {
      const { repository } = world;
      const commands = commandsOf(await world.refs(), refs);
      const result = await repository.receive(commands, pack, options);
      const failed = result.refs.filter(({ error }) => error !== null).map(({ name }) => name);
      assert.deepEqual(failed, refused);
    },
  };
}

function commandsOf(
  current: ReadonlyMap<string, string>,
  refs: Readonly<Record<string, string | null>>,
): readonly HexCommand[] {
  return Object.entries(refs)
    .map(([name, next]) => [name, current.get(name) ?? null, next] as const)
    .filter(([, old, next]) => old !== next);
}

/** A call of the API.
 * @param done error codes that mean, on a retry, that the first attempt succeeded */
export function call(name: CallName, argument: unknown, ...done: readonly string[]): Step {
  return {
    name,
    async run({ repository }) {
      const outcome = await repository.repository.call(name, argument, ANYONE);
      if (outcome.kind === "unknown-repository") throw new GitError("not-found", { subject: "repository" });
      if (outcome.kind === "failed" && !done.includes(outcome.code)) throw new GitError(outcome.code, outcome.data);
    },
  };
}

/** Runs the alarm as often as it is set to a time within so many ms. */
export function alarms(withinMs: number): Step {
  return { name: "alarms", run: (world) => world.ring(Date.now() + withinMs) };
}

/** Schedules a job for the next alarm. */
export function addJob({ repository: { repository } }: World, kind: JobKind, key = ""): void {
  repository.state.jobs.add(kind, key, Date.now());
  repository.state.scheduleJobs();
}
