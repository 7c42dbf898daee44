// The bundle of a repository: one file with all branches and tags and what they lead to, from which a clone that asks for it
// (`transfer.bundleURI`) takes the bulk. Built when there is enough to save, and anew when it has fallen behind by a part of
// its size; between, clients fetch what is newer.
import { type Limits, MULTIPART_PART_BYTES } from "../../format/limits.ts";
import { concatOids, isNullOid } from "../../format/oid.ts";
import type { StoredBundle } from "../../store/jobs/bundle-table.ts";
import { newChunkCounters } from "../../store/chunks/chunk-store.ts";
import type { Job } from "../../store/jobs/jobs.ts";
import type { Tables } from "../../store/tables.ts";
import { planBundle } from "./bundle-plan.ts";
import { HeldBytes } from "../pack-bytes/held-bytes.ts";
import { streamPack } from "../pack-bytes/pack-stream.ts";
import { PartWriter } from "../pack-bytes/part-writer.ts";
import { pause } from "../pacing/pause.ts";
import type { RefCommand } from "../state/push.ts";
import type { RepositoryState } from "../state/repository-state.ts";

/** A bundle is made anew when more has been pushed since than this part of it: a clone gets five sixths of its bytes from it at
 * the least, and a repository that grows has each byte written six times on the average, however large it becomes. */
const STALE_PART = 1 / 5;

/** When an object that a build was writing counts as left behind by a crash: an alarm runs for 15 minutes at the most. */
const SWEEP_AFTER_MS = 60 * 60_000;

/** How long the bytes of a replaced bundle stay: clients are downloading it. */
const REPLACED_FOR_MS = 24 * 60 * 60_000;

/** How long a bundle may hold what no ref leads to any more; branches that are deleted once merged must not cost a build each. */
const REWOUND_FOR_MS = 24 * 60 * 60_000;

/** Why a bundle is due, as the job's key: so much has come since, or something has gone. */
const GROWN = "";
const REWOUND = "rewound";

/** Sees to a bundle after a push, where one is due; belongs in the push's transaction. Reads two rows and, when there is a bundle and a
 * ref moved on, the graph in memory.
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

/** Whether so much has been pushed that a bundle should be built, or built anew. */
function isGrown({ pushes }: Tables, bundle: StoredBundle | null, { minBundleBytes }: Limits): boolean {
  const freshBytes = pushes.totalBytes() - (bundle?.totalBytes ?? 0);
  return freshBytes >= Math.max(minBundleBytes, (bundle?.sizeBytes ?? 0) * STALE_PART);
}

/** Whether a ref's old value is no ancestor of what the refs of the push became: something may have become unreachable. */
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

/** The job `bundle`: builds a bundle of the refs as they are now and puts it in the place of the one before.
 * @param rest called between steps of the work */
export async function buildBundle(
  repository: RepositoryState,
  job: Job,
  rest: () => Promise<void> = pause,
): Promise<void> {
  const { tables, platform, jobs, activePrefixes } = repository;
  if (tables === null) return;
  if (job.key === GROWN) {
    // It may have been built since the job was added.
    if (!isGrown(tables, tables.bundles.current(), platform.limits)) return;
    jobs.cancel("bundle", REWOUND);
  }
  const startMs = Date.now();
  const totalBytes = tables.pushes.totalBytes();
  const planned = planBundle(tables, ["refs/heads/", "refs/tags/"]);
  if (planned === null) return platform.transactor.transactionSync(() => replaceBundle(tables, null));
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
    platform.transactor.transactionSync(() => {
      // The time, so that a repository which takes the place of another of its name does not begin anew.
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

/** Puts a bundle, or none, in the place of the one there was; belongs in a transaction. */
function replaceBundle({ bundles, jobs }: Tables, bundle: StoredBundle | null): void {
  const replaced = bundles.current();
  bundles.replace(bundle);
  if (replaced !== null) jobs.add("sweep", replaced.key, Date.now() + REPLACED_FOR_MS);
}
