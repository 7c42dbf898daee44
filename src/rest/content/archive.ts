import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../format/byte-string.ts";
import { contentDisposition } from "../../format/content-disposition.ts";
import { GitError } from "../../format/errors.ts";
import { MAX_ARCHIVE_STEPS, MAX_WALK_STEPS } from "../../format/limits.ts";
import { isHexOid } from "../../format/oid.ts";
import { StepBudget } from "../../format/step-budget.ts";
import { isTreeMode } from "../../format/tree.ts";
import { type Archive, openArchive } from "../../repository/files/archive.ts";
import { BlobReader } from "../../repository/files/blob-reader.ts";
import { CONVERT } from "../../repository/files/export-attributes.ts";
import { compressedPieces } from "../../repository/files/compressed-pieces.ts";
import { type FilesPlan, WINDOW_STEPS } from "../../repository/files/plan-files.ts";
import { streamPieces } from "../../repository/files/piece-stream.ts";
import { readPlanned } from "../../repository/files/planned-files.ts";
import { tarArchive } from "../../repository/files/tar-archive.ts";
import { zipArchive } from "../../repository/files/zip-archive.ts";
import { pause } from "../../repository/pacing/pause.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { pathParts } from "../common/path-parts.ts";
import { defineRoute, newRoutes, repositoryOf, serveBelow } from "../common/routes.ts";
import { PathSchema, RepositoryParams } from "../common/schemas.ts";

const TYPES = {
  "tar.gz": "application/gzip",
  tar: "application/x-tar",
  zip: "application/zip",
} as const;

type Format = keyof typeof TYPES;

const FORMATS = ["tar.gz", "tar", "zip"] as const satisfies Format[];

/** Pause after a slow or empty read, doubled each time: a client that has disconnected is noticed
 * only when a byte cannot be sent to it, and for long there may be none to send. Milliseconds. */
const REST_MS = 100;
const MAX_REST_MS = 10_000;

const Query = z.object({
  path: PathSchema.default("").openapi({ description: "only this file or directory" }),
  prefix: z
    .string()
    .max(1_000)
    // oxlint-disable-next-line no-control-regex -- those are what is refused.
    .regex(/^(?!\/)(?!(.*\/)?\.\.(\/|$))[^\u0000-\u001f\u007f]*$/, "it must be a relative path")
    .default("")
    .openapi({ description: "prepended to every path; end it with a slash to name a directory", example: "my-repo/" }),
});

const content = { schema: z.string().openapi({ format: "binary" }) };

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/archive/{file}",
  tags: ["files"],
  summary: "Download the files of a commit as an archive",
  description:
    "`file` is a ref followed by `.tar`, `.tar.gz` or `.zip`. The contents are the same as those of `git archive`.",
  request: {
    params: RepositoryParams.extend({ file: z.string().openapi({ example: "main.tar.gz" }) }),
    query: Query,
  },
  responses: {
    200: {
      description: "The archive.",
      content: Object.fromEntries(Object.values(TYPES).map((type) => [type, content])),
    },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/archive/:ref.{tar,tar.gz,zip}`. */
export const archiveRoutes = newRoutes();
serveBelow(archiveRoutes, read, "/repos/:owner/:repo/archive/*", async (context) => {
  const { ref, format } = splitName(pathParts(context).join("/"));
  const parsed = Query.safeParse(context.req.query());
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue!.path.join(".");
    throw new GitError("invalid", { what: field, field, reason: issue!.message });
  }
  const path = encodeText(parsed.data.path);
  const repository = repositoryOf(context);
  const plan = (revision: string, after: string, steps: number): Promise<FilesPlan> =>
    repository.planFiles({ ref: revision, after, path, globs: [], purpose: "archive", steps });
  const first = await plan(ref, "", MAX_WALK_STEPS);
  if (path !== "" && first.files.paths.length === 0) throw new GitError("not-found", { what: "path" });
  return answerByIds(context, [first.commit, format], isHexOid(ref), async () => {
    const headers = {
      "Content-Type": TYPES[format],
      "Content-Disposition": contentDisposition("attachment", `${nameOf(context.req.param("repo"), ref)}.${format}`),
    };
    if (context.req.method === "HEAD") return new Response(null, { headers });
    const reader = new BlobReader(context.get("reading"), "archive");
    const budget = new StepBudget(MAX_ARCHIVE_STEPS, "an archive's paths (steps)");
    budget.spend(first.steps);
    let isOpen = false;
    let restMs = REST_MS;
    const planNext = async (after: string): Promise<FilesPlan> => {
      const window = await plan(first.commit, after, isOpen ? MAX_WALK_STEPS : MAX_WALK_STEPS - budget.spent);
      budget.spend(window.steps);
      restMs = isOpen && isDear(window) ? Math.min(MAX_REST_MS, restMs * 2) : REST_MS;
      if (restMs > REST_MS) await pause(restMs);
      return window;
    };
    const source = { ...first, prefix: encodeText(parsed.data.prefix), files: readPlanned(first, planNext, reader) };
    const archive = await openArchive(source);
    isOpen = true;
    return new Response(makeBody(archive, format, reader), { headers });
  });
});

/** @param name byte string
 * @throws GitError "not-found" unless it ends with a format's extension */
function splitName(name: string): { ref: string; format: Format } {
  const format = FORMATS.find((one) => name.endsWith(`.${one}`));
  if (format === undefined) {
    throw new GitError("not-found", { what: "archive", reason: "its name must end in .tar, .tar.gz or .zip" });
  }
  return { ref: name.slice(0, -format.length - 1), format };
}

function isDear({ files, conversions, steps }: FilesPlan): boolean {
  return (
    steps > WINDOW_STEPS || files.modes.every((mode, i) => isTreeMode(mode) || (conversions[i]! & CONVERT.omit) !== 0)
  );
}

/** The file name for saving it, without slashes. */
function nameOf(repository: string, ref: string): string {
  return encodeText(`${repository.replace(/\.git$/, "")}-${decodeText(ref).replaceAll("/", "-")}`);
}

function makeBody(archive: Archive, format: Format, reader: BlobReader): ReadableStream<Uint8Array> {
  const settle = (sentBytes: number, complete: boolean): void => {
    reader.sent(sentBytes);
    reader.finish(complete);
  };
  if (format === "zip") return streamPieces(zipArchive(archive), settle);
  const tar = tarArchive(archive);
  return streamPieces(format === "tar.gz" ? compressedPieces(tar, "gzip")[Symbol.asyncIterator]() : tar, settle);
}
