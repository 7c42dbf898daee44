// The bundle of a repository: one file with all branches and tags and everything they reach. A
// clone that asks for it (`transfer.bundleURI`) downloads most of its data from it, and fetches
// only what is newer. It is built when it would save enough, and rebuilt once the pushes since then
// exceed a fraction of its size.
import type { Limits } from "../../base/format/configured-limits.ts";
import { MULTIPART_PART_BYTES } from "../../base/format/limits.ts";
import { concatOids, isNullOid } from "../../base/format/oid.ts";
import type { StoredBundle } from "../../contract/fetch.ts";
import { newChunkCounters } from "../../base/chunks/chunk-store.ts";
import type { Job } from "../store/jobs/jobs.ts";
import type { Tables } from "../store/tables.ts";
import { planBundle } from "./backup.ts";
import { HeldBytes } from "../../base/bytes/held-bytes.ts";
import { streamPack } from "../../base/bytes/pack-stream.ts";
import { PartWriter } from "../../base/bytes/part-writer.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import type { RefCommand } from "../../contract/push.ts";
import type { RepositoryState } from "../state/repository-state.ts";

/** A bundle is rebuilt when more than this fraction of it has been pushed since. So a clone gets at
 * least five sixths of its bytes from it, and a growing repository writes each byte six times on
 * average, however large it becomes. */
const STALE_PART = 1 / 5;

/** When the object of an unfinished build counts as left behind by a crash: an alarm runs for at
 * most 15 minutes. */
const SWEEP_AFTER_MS = 60 * 60_000;

/** How long a replaced bundle is kept: clients may still be downloading it. */
const REPLACED_FOR_MS = 24 * 60 * 60_000;

/** How long a bundle may hold objects that no ref reaches any more. Deleting merged branches must
 * not cost a build each time. */
const REWOUND_FOR_MS = 24 * 60 * 60_000;

/** Why a bundle is due, as the job's key: enough was pushed since, or something was removed. */
const GROWN = "";
const REWOUND = "rewound";

/** Schedules a bundle build after a push if one is due. Must run in the push's transaction. Reads
 * two rows and, if there is a bundle and a ref moved, the graph in memory.
 * @param moved the commands that moved their refs */
export function scheduleBundle(tables: Tables, moved: readonly RefCommand[], limits: Limits, nowMs: number): void {
  const { bundles, jobs } = tables;
  const soonMs = nowMs + limits.bundleDelayMs;
  const bundle = bundles.current();
  if (isGrown(tables, bundle, limits)) jobs.add("bundle", GROWN, soonMs);
  if (bundle !== null && isRewound(tables, moved)) {
    jobs.add("bundle", REWOUND, Math.max(soonMs, bundle.token + REWOUND_FOR_MS));
  }
}

/** Whether enough was pushed to build or rebuild the bundle. */
function isGrown({ pushes }: Tables, bundle: StoredBundle | null, { minBundleBytes }: Limits): boolean {
  const freshBytes = pushes.totalBytes() - (bundle?.totalBytes ?? 0);
  return freshBytes >= Math.max(minBundleBytes, (bundle?.sizeBytes ?? 0) * STALE_PART);
}

/** Whether a ref's old value is not an ancestor of the new values of the push: something may have
 * become unreachable. */
export function isRewound({ objects, graph }: Tables, moved: readonly RefCommand[]): boolean {
  const changed = moved.filter((command) => !isNullOid(command.old));
  if (changed.length === 0) return false;
  const positionsOf = (oids: readonly Uint8Array[]): number[] =>
    Array.from(objects.lookupMany(concatOids(oids)).number)
      .filter((number) => number !== 0)
      .map((number) => graph.position(number));
  const kept = graph.ancestors(positionsOf(moved.map((command) => command.new)));
  return positionsOf(changed.map((command) => command.old)).some((position) => !kept.has(position));
}

/** The job `bundle`: builds a bundle of the current refs and replaces the previous one.
 * @param rest called between steps of the work */
export async function buildBundle(
  repository: RepositoryState,
  job: Job,
  rest: () => Promise<void> = pause,
): Promise<void> {
  const { tables, platform, jobs, activePrefixes } = repository;
  if (tables === null) return;
  if (job.key === GROWN) {
    // Another job may have built it since this one was added.
    if (!isGrown(tables, tables.bundles.current(), platform.limits)) return;
    jobs.cancel("bundle", REWOUND);
  }
  const startMs = Date.now();
  const totalBytes = tables.pushes.totalBytes();
  const planned = planBundle(tables, ["refs/heads/", "refs/tags/"]);
  if (planned === null) return repository.transactAside(() => replaceBundle(tables, null));
  const { header, plan } = planned;
  const key = `${repository.key}/bundles/${crypto.randomUUID()}`;
  const operations = newChunkCounters();
  const store = platform.openChunks(operations);
  const writer = new PartWriter(store, key);
  const held = new HeldBytes();
  held.add(MULTIPART_PART_BYTES + header.length);
  activePrefixes.add(key);
  try {
    jobs.add("sweep", key, startMs + SWEEP_AFTER_MS);
    await writer.add(header);
    for await (const slices of streamPack(plan, store, platform.codec, held, true)) {
      for (const slice of slices) await writer.add(slice);
      await rest();
    }
    const file = await writer.finish();
    repository.transactAside(() => {
      // Based on the time, so that a repository which reuses the name of another does not start
      // again at a low number.
      const token = Math.max(startMs, (tables.bundles.current()?.token ?? 0) + 1);
      replaceBundle(tables, { token, key, ...file, totalBytes });
      jobs.cancel("sweep", key);
    });
    platform.observe({
      event: "bundle",
      objects: plan.objectCount,
      sizeBytes: file.sizeBytes,
      buildMs: Date.now() - startMs,
      peakBytes: held.peakBytes,
      operations,
    });
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    activePrefixes.delete(key);
  }
}

/** Replaces the current bundle with another one, or none. Must run in a transaction. */
function replaceBundle({ bundles, jobs }: Tables, bundle: StoredBundle | null): void {
  const replaced = bundles.current();
  bundles.replace(bundle);
  if (replaced !== null) jobs.add("sweep", replaced.key, Date.now() + REPLACED_FOR_MS);
}
