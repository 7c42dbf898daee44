import type { LfsOid } from "../../base/format/lfs.ts";
import type { LfsBatch, LfsBatchAnswer, LfsObject, StoredLfsObject } from "../../contract/lfs.ts";
import type { LfsContext } from "./lfs-request.ts";
import { largestBasicBytes } from "./size-limits.ts";

/** Downloads of fewer bytes go through the Worker: a signature takes a third of a millisecond, and
 * a batch may have a thousand downloads. */
const SIGNED_FROM_BYTES = 1024 * 1024;

/** A request that the client is to send for an object. */
interface LfsAction {
  readonly href: string;
  readonly header: Readonly<Record<string, string>>;
  /** Seconds; absent: the request does not expire. */
  readonly expires_in?: number;
}

/** All requests that the client is to send for one object. `verify` follows `upload`. */
export type LfsActions = Partial<Readonly<Record<"upload" | "verify" | "download", LfsAction>>>;

/** Chooses the requests that the client sends for the objects of a batch. If requests to the bucket
 * can be signed, the client reads large objects from there, and sends there those that are too
 * large for a request to the Worker. Objects too large for any single request are sent in parts.
 * @returns by id; without objects that need no request, and objects that cannot be read */
export async function batchActions(
  context: LfsContext,
  operation: LfsBatch["operation"],
  wanted: readonly LfsObject[],
  { found, begun }: LfsBatchAnswer,
): Promise<Map<LfsOid, LfsActions>> {
  const { request, url, signed } = context;
  // The caller's own token, so that its client need not look it up for each object.
  const authorization = request.headers.get("Authorization");
  const header = authorization === null ? {} : { Authorization: authorization };
  const through = (oid: LfsOid): LfsAction => ({ href: `${url}/objects/${oid}`, header });
  if (operation === "download") {
    return byOid(found, async ({ key, oid, sizeBytes }) => ({
      download: signed === null || sizeBytes < SIGNED_FROM_BYTES ? through(oid) : await signed.get(key),
    }));
  }
  const there = new Set([...found, ...begun].map(({ oid }) => oid));
  const missing = wanted.filter(({ oid }) => !there.has(oid));
  const basicBytes = largestBasicBytes(context);
  const inParts = (oid: LfsOid): LfsAction => ({ href: `${url}/objects/${oid}/uploads`, header });
  const actions = new Map<LfsOid, LfsActions>(
    missing.map(({ oid, sizeBytes }) => [oid, { upload: sizeBytes > basicBytes ? inParts(oid) : through(oid) }]),
  );
  const verify = (key: string) => ({ href: `${url}/verify?upload=${key.slice(key.lastIndexOf("-") + 1)}`, header });
  const sent = await byOid(begun, async ({ key, oid }) => ({
    upload: await signed!.put(key, oid),
    verify: verify(key),
  }));
  for (const [oid, needed] of sent) actions.set(oid, needed);
  return actions;
}

async function byOid(
  objects: readonly StoredLfsObject[],
  describe: (object: StoredLfsObject) => Promise<LfsActions>,
): Promise<Map<LfsOid, LfsActions>> {
  return new Map(
    await Promise.all(
      objects.map(async (object): Promise<[LfsOid, LfsActions]> => [object.oid, await describe(object)]),
    ),
  );
}
