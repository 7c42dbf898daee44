// What an import asks of an upstream's Git LFS server.
import { z } from "zod";
import { GitError, isGitError } from "../../format/errors.ts";
import { isLfsOid } from "../../format/lfs.ts";
import { MAX_LFS_JSON_BYTES } from "../../format/limits.ts";
import type { LfsObject } from "../lfs/lfs-uploads.ts";
import { PacedBody } from "../pacing/paced-body.ts";
import { checkLink } from "../remote/address.ts";
import { failed, type GitServer, MAX_REDIRECTS } from "../remote/git-server.ts";

const LFS_TYPE = "application/vnd.git-lfs+json";

const Action = z.object({
  href: z.string().max(16_000),
  header: z.record(z.string().max(200), z.string().max(16_000)).nullish(),
});

const Answer = z.object({
  transfer: z.string().nullish(),
  objects: z.array(
    z.object({
      oid: z.string(),
      actions: z.object({ download: Action.nullish() }).nullish(),
      error: z.object({ message: z.string().nullish() }).nullish(),
    }),
  ),
});

/** A request that brings an object. */
export type LfsDownload = z.output<typeof Action>;

/** Asks where objects are.
 * @param objects at most as many as a server takes at a time, 100
 * @returns by id; without those that the upstream does not have
 * @throws GitError "unavailable", "unsupported", "unauthenticated", "not-found"
 * @see git-lfs, docs/api/batch.md */
export async function findDownloads(
  upstream: GitServer,
  objects: readonly LfsObject[],
): Promise<Map<string, LfsDownload>> {
  const wanted = objects.map(({ oid, sizeBytes }) => ({ oid, size: sizeBytes }));
  const url = `${upstream.base.replace(/(\.git)?$/, ".git")}/info/lfs/objects/batch`;
  const question = { operation: "download", transfers: ["basic"], objects: wanted, hash_algo: "sha256" };
  const headers = { Accept: LFS_TYPE, "Content-Type": LFS_TYPE };
  const response = await upstream.send(url, headers, Buffer.from(JSON.stringify(question)));
  if (response.status !== 200) {
    await response.body?.cancel();
    throw refuse(response.status);
  }
  const answer = Answer.safeParse(await readJson(response));
  if (!answer.success) throw failed("upstream", "its Git LFS answered what is no batch");
  const { transfer, objects: found } = answer.data;
  if (transfer !== undefined && transfer !== null && transfer !== "basic")
    throw new GitError("unsupported", { what: "the upstream's Git LFS", reason: "it knows no basic transfers" });
  const ids = new Set(objects.map(({ oid }) => oid));
  return new Map(
    found.flatMap(({ oid, actions, error }): [string, LfsDownload][] => {
      const download = actions?.download ?? null;
      const isThere = download !== null && (error === null || error === undefined);
      return isThere && isLfsOid(oid) && ids.has(oid) ? [[oid, download]] : [];
    }),
  );
}

/** Opens an object where the upstream said that it is. Redirects are followed, each checked as the
 * first address was; another origin than the first gets none of the headers.
 * @returns null: it is not there
 * @throws GitError "unavailable", "invalid" for an address that may not be asked */
export async function openDownload(upstream: GitServer, { href, header }: LfsDownload): Promise<Response | null> {
  const first = checkLink(href, upstream.allowsPrivate);
  let url = first;
  for (let redirects = 0; ; redirects++) {
    const headers = url.origin === first.origin ? (header ?? {}) : {};
    const response = await upstream.send(url.href, headers);
    const location = response.headers.get("Location");
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
    if (response.status === 200) return response;
    await response.body?.cancel();
    if (response.status === 404 || response.status === 410) return null;
    if (!isRedirect) throw failed("upstream", `its Git LFS answered ${response.status} for an object`);
    if (redirects === MAX_REDIRECTS)
      throw failed("upstream", `its Git LFS redirected more than ${MAX_REDIRECTS} times`);
    const next = checkLink(URL.parse(location, url)?.href ?? "", upstream.allowsPrivate);
    if (next.protocol === "http:" && url.protocol === "https:")
      throw failed("upstream", "it redirected from https: to http:");
    url = next;
  }
}

async function readJson(response: Response): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const body = new PacedBody(response.body!, () => 1, 1);
  try {
    for (let piece = await body.read(); piece !== null; piece = await body.read()) {
      bytes += piece.length;
      if (bytes > MAX_LFS_JSON_BYTES)
        throw failed("upstream", `its Git LFS answered with more than ${MAX_LFS_JSON_BYTES} bytes`);
      pieces.push(piece);
    }
    return JSON.parse(Buffer.concat(pieces).toString()) as unknown;
  } catch (cause) {
    await body.cancel().catch(() => undefined);
    if (isGitError(cause, "unavailable")) throw cause;
    throw failed("upstream", "its Git LFS answered what is no JSON", cause);
  }
}

function refuse(status: number): GitError {
  if (status === 401 || status === 403) {
    const reason = `its Git LFS answered ${status}; send \`authorization\`, the header that it wants`;
    return new GitError("unauthenticated", { what: "credential for the upstream", reason });
  }
  if (status === 404 || status === 410 || status === 501) {
    const reason = `it answered ${status}; import without \`lfs\``;
    return new GitError("not-found", { what: "upstream's Git LFS", reason });
  }
  return failed("upstream", `its Git LFS answered ${status}`);
}
