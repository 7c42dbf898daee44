// Requests to another host's Git LFS server, for downloads and uploads.
import { z } from "zod";
import { GitError, isGitError } from "../../base/format/errors.ts";
import { isLfsOid, type LfsOid } from "../../base/format/lfs.ts";
import { MAX_LFS_JSON_BYTES } from "../../base/format/limits.ts";
import { PacedBody } from "../../base/pacing/paced-body.ts";
import { failed, type GitServer, type RemoteRole } from "./git-server.ts";

/** The media type of the LFS API. */
export const LFS_TYPE = "application/vnd.git-lfs+json";

/** Number of objects in a batch that every server accepts. */
export const LFS_BATCH_OBJECTS = 100;

const Action = z.object({
  href: z.string().max(16_000),
  header: z.record(z.string().max(200), z.string().max(16_000)).nullish(),
});

const Answer = z.object({
  transfer: z.string().nullish(),
  objects: z.array(
    z.object({
      oid: z.string(),
      actions: z.object({ download: Action.nullish(), upload: Action.nullish(), verify: Action.nullish() }).nullish(),
      error: z.object({ code: z.number().nullish(), message: z.string().nullish() }).nullish(),
    }),
  ),
});

/** A request that the server asks for, for an object. */
export type LfsAction = z.output<typeof Action>;

/** A server's answer for one object. */
export type LfsAnswer = z.output<typeof Answer>["objects"][number];

/** Requests a batch of objects.
 * @param objects at most `LFS_BATCH_OBJECTS`
 * @returns by id; only those that were requested
 * @throws GitError "unavailable", "unsupported", "unauthenticated", "not-found"
 * @see git-lfs, docs/api/batch.md */
export async function askBatch(
  server: GitServer,
  operation: "download" | "upload",
  objects: readonly { readonly oid: LfsOid; readonly sizeBytes: number }[],
): Promise<Map<LfsOid, LfsAnswer>> {
  const { role, base } = server;
  const wanted = objects.map(({ oid, sizeBytes }) => ({ oid, size: sizeBytes }));
  const url = `${base.replace(/(\.git)?$/, ".git")}/info/lfs/objects/batch`;
  const question = { operation, transfers: ["basic"], objects: wanted, hash_algo: "sha256" };
  const response = await server.send(url, { Accept: LFS_TYPE, "Content-Type": LFS_TYPE }, encodeJson(question));
  if (response.status !== 200) {
    await response.body?.cancel();
    throw refuse(role, response.status);
  }
  const answer = Answer.safeParse(await readJson(role, response));
  if (!answer.success) throw failed(role, "its Git LFS answered what is no batch");
  const { transfer, objects: found } = answer.data;
  if (transfer !== undefined && transfer !== null && transfer !== "basic")
    throw new GitError("unsupported", { what: `the ${role}'s Git LFS`, reason: "it knows no basic transfers" });
  const ids = new Set(objects.map(({ oid }) => oid));
  return new Map(found.flatMap((one) => (isLfsOid(one.oid) && ids.has(one.oid) ? [[one.oid, one]] : [])));
}

/** Encodes the body of a request. */
export function encodeJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

async function readJson(role: RemoteRole, response: Response): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const body = new PacedBody(response.body!, () => 1, 1);
  try {
    for (let piece = await body.read(); piece !== null; piece = await body.read()) {
      bytes += piece.length;
      if (bytes > MAX_LFS_JSON_BYTES)
        throw failed(role, `its Git LFS answered with more than ${MAX_LFS_JSON_BYTES} bytes`);
      pieces.push(piece);
    }
    return JSON.parse(Buffer.concat(pieces).toString()) as unknown;
  } catch (cause) {
    await body.cancel().catch(() => undefined);
    if (isGitError(cause, "unavailable")) throw cause;
    throw failed(role, "its Git LFS answered what is no JSON", cause);
  }
}

/** Advice for a server without Git LFS. */
const WAY_OUT: Readonly<Record<RemoteRole, string>> = {
  upstream: "import without `lfs`",
  target: "mirror without `lfs`",
};

function refuse(role: RemoteRole, status: number): GitError {
  if (status === 401 || status === 403) {
    const reason = `its Git LFS answered ${status}; send \`authorization\`, the header that it wants`;
    return new GitError("unauthenticated", { what: `credential for the ${role}`, reason });
  }
  if (status === 404 || status === 410 || status === 501) {
    const reason = `it answered ${status}; ${WAY_OUT[role]}`;
    return new GitError("not-found", { what: `${role}'s Git LFS`, reason });
  }
  return failed(role, `its Git LFS answered ${status}`);
}
