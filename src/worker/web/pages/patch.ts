import { fromByteString } from "../../../base/format/byte-string.ts";
import { checkConditions } from "../../../base/format/conditional-request.ts";
import { GitError } from "../../../base/format/errors.ts";
import { MAX_SHOWN_HEADER_BYTES, MESSAGE_PART_BYTES } from "../../../base/format/shown-limits.ts";
import { formatMail } from "../parts/mail-head.ts";
import type { ShownCommit } from "../../../contract/commits.ts";
import { PAGE_HEADERS, RAW_POLICY } from "../parts/page-headers.ts";
import type { PageContext } from "../parts/web-env.ts";
import type { DiffEnds } from "./shown-diff.ts";

/** `/{owner}/{repo}/commit/{oid}.patch`: a commit as a mail for `git am`, as `git format-patch -p
 * --full-index --binary --no-signature` writes it; for a merge, its changes to the first parent.
 * `.diff`: only the changes. */
export async function commitPatch(context: PageContext, oid: string, format: "patch" | "diff"): Promise<Response> {
  const repository = context.get("repository");
  const commit = await repository.showCommit({ ref: oid, part: 1 });
  if (format === "patch") checkWhole(commit);
  const head = format === "patch" ? fromByteString(formatMail(commit)) : new Uint8Array(0);
  return sendPatch(context, { base: commit.parents[0] ?? null, head: commit.oid }, head, `"${format}-${commit.oid}"`);
}

/** @throws GitError "too-large" for a commit whose mail would be incomplete */
function checkWhole({ messageTruncated, author }: ShownCommit): void {
  const reason = "the same address with .diff has the changes alone";
  if (messageTruncated) throw tooLarge("the message of a commit as a mail (bytes)", MESSAGE_PART_BYTES, reason);
  if (author.truncated) throw tooLarge("the author of a commit as a mail (bytes)", MAX_SHOWN_HEADER_BYTES, reason);
}

function tooLarge(what: string, limit: number, reason: string): GitError {
  return new GitError("too-large", { what, limit, reason });
}

/** Streams the changes between two commits, as the client takes them.
 * @param etag of ids, so that the content never changes
 * @throws GitError as the call `patch` */
async function sendPatch(context: PageContext, ends: DiffEnds, head: Uint8Array, etag: string): Promise<Response> {
  const headers = {
    ...PAGE_HEADERS,
    ETag: etag,
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Security-Policy": RAW_POLICY,
  };
  if (checkConditions(context.req.raw.headers, etag) === 304) return new Response(null, { status: 304, headers });
  const repository = context.get("repository");
  // Read before the response begins, so that errors still get a status.
  let part = await repository.patch({ ...ends, start: 0 });
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (head.length > 0) controller.enqueue(head);
    },
    async pull(controller) {
      if (part.bytes.length > 0) controller.enqueue(part.bytes);
      if (part.next === null) controller.close();
      else part = await repository.patch({ ...ends, start: part.next });
    },
  });
  return new Response(body, { headers });
}
