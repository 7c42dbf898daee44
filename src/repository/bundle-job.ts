// The bundle of a repository: one file with all branches and tags and what they lead to, from which a clone that asks for it
// (`transfer.bundleURI`) takes the bulk. Built when there is enough to save, and anew when it has fallen behind by a part of
// its size; between, clients fetch what is newer.
import { encodeBundleHeader } from "../format/bundle.ts";
import { MULTIPART_PART_BYTES } from "../format/limits.ts";
import { OID_BYTES } from "../format/oid.ts";
import { newChunkCounters } from "../store/chunk-store.ts";
import type { Tables } from "../store/tables.ts";
import { HeldBytes } from "./held-bytes.ts";
import type { PackPlan } from "./pack-plan.ts";
import { planPack } from "./pack-planner.ts";
import { streamPack } from "./pack-stream.ts";
import { PartWriter } from "./part-writer.ts";
import type { RepositoryState } from "./repository-state.ts";

/** A bundle is made anew when more has been pushed since than this part of it: a clone gets five sixths of its bytes from it at
 * the least, and a repository that grows has each byte written six times on the average, however large it becomes. */
const STALE_PART = 1 / 5;

/** When an object that a build was writing counts as left behind by a crash: an alarm runs for 15 minutes at the most. */
const SWEEP_AFTER_MS = 60 * 60_000;

/** How long the bytes of a replaced bundle stay: clients are downloading it. */
const REPLACED_FOR_MS = 24 * 60 * 60_000;

/** Whether so much has been pushed that a bundle should be built, or built anew. Reads two rows.
 * @param minBytes what a bundle must bring at least, see `Limits.minBundleBytes` */
export function isBundleDue({ bundles, pushes }: Tables, minBytes: number): boolean {
  const bundle = bundles.current();
  const freshBytes = pushes.totalBytes() - (bundle?.totalBytes ?? 0);
  return freshBytes >= Math.max(minBytes, (bundle?.sizeBytes ?? 0) * STALE_PART);
}

/** The job `bundle`: builds a bundle of the refs as they are now and puts it in the place of the one before. */
export async function buildBundle(repository: RepositoryState): Promise<void> {
  const { tables, platform, jobs, activePrefixes } = repository;
  // It may have been built since the job was added.
  if (tables === null || !isBundleDue(tables, platform.limits.minBundleBytes)) return;
  const startMs = Date.now();
  const contents = planContents(tables);
  if (contents === null) return;
  const { header, plan, totalBytes } = contents;
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
    for await (const slices of streamPack(plan, store, platform.codec, held)) {
      for (const slice of slices) await writer.add(slice);
    }
    const file = await writer.finish();
    platform.transactor.transactionSync(() => {
      const replaced = tables.bundles.current();
      // The time, so that a repository which takes the place of another of its name does not begin anew.
      const token = Math.max(startMs, (replaced?.token ?? 0) + 1);
      tables.bundles.replace({ token, key, ...file, totalBytes });
      jobs.cancel("sweep", key);
      if (replaced !== null) jobs.add("sweep", replaced.key, Date.now() + REPLACED_FOR_MS);
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

/** Plans a bundle of branches, tags, and HEAD, so that a clone of the bundle itself checks something out.
 * @returns null when there is no branch and no tag */
function planContents({ refs, objects, graph, reachability, chunks, pushes }: Tables): {
  header: Uint8Array;
  plan: PackPlan;
  totalBytes: number;
} | null {
  const { names, oids } = refs.withPrefixes(["refs/heads/", "refs/tags/"]);
  if (names.length === 0) return null;
  const head = refs.get(refs.head() ?? "");
  const headOids = new Uint8Array(head === null ? oids.length : oids.length + OID_BYTES);
  headOids.set(oids);
  if (head !== null) headOids.set(head.oid, oids.length);
  const positions = Array.from(objects.lookupMany(oids).number, (number) => graph.position(number));
  return {
    header: encodeBundleHeader({
      prerequisites: [],
      names: head === null ? names : [...names, "HEAD"],
      oids: headOids,
    }),
    plan: planPack(objects, chunks, {
      objects: reachability.between(graph.ancestors(positions), graph.ancestors([])),
      findHad: null,
      ofsDelta: true,
    }),
    totalBytes: pushes.totalBytes(),
  };
}
