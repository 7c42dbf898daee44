import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../format/byte-string.ts";
import { contentDisposition } from "../format/content-disposition.ts";
import { GitError } from "../format/errors.ts";
import { isHexOid } from "../format/oid.ts";
import type { ArchiveSource } from "../repository/files/archive.ts";
import { BlobReader } from "../repository/files/blob-reader.ts";
import { compressedPieces } from "../repository/files/compressed-pieces.ts";
import type { FilesPlan } from "../repository/files/plan-files.ts";
import { streamPieces } from "../repository/files/piece-stream.ts";
import { readPlanned } from "../repository/files/planned-files.ts";
import { tarArchive } from "../repository/files/tar-archive.ts";
import { zipArchive } from "../repository/files/zip-archive.ts";
import { answerByIds } from "./conditional.ts";
import { failures } from "./error.ts";
import { pathParts } from "./path-parts.ts";
import { defineRoute, newRoutes, repositoryOf, serveBelow } from "./routes.ts";
import { PathSchema, RepositoryParams } from "./schemas.ts";

const TYPES = {
  "tar.gz": "application/gzip",
  tar: "application/x-tar",
  zip: "application/zip",
} as const;

type Format = keyof typeof TYPES;

const FORMATS = ["tar.gz", "tar", "zip"] as const satisfies Format[];

const Query = z.object({
  path: PathSchema.default("").openapi({ description: "of a file, or a directory of which everything is wanted" }),
  prefix: z
    .string()
    .max(1_000)
    // oxlint-disable-next-line no-control-regex -- those are what is refused.
    .regex(/^(?!\/)(?!(.*\/)?\.\.(\/|$))[^\u0000-\u001f\u007f]*$/, "it must be a relative path")
    .default("")
    .openapi({ description: "put before all paths; that of a directory ends in a slash", example: "my-repo/" }),
});

const content = { schema: z.string().openapi({ format: "binary" }) };

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/archive/{file}",
  tags: ["files"],
  summary: "Read the files of a commit as an archive",
  description: "`file` is a ref and `.tar`, `.tar.gz` or `.zip`. What is in it is what `git archive` puts there.",
  request: {
    params: RepositoryParams.extend({ file: z.string().openapi({ example: "main.tar.gz" }) }),
    query: Query,
  },
  responses: {
    200: {
      description: "The archive.",
      content: Object.fromEntries(Object.values(TYPES).map((type) => [type, content])),
    },
    304: { description: "As it was." },
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
  const plan = (revision: string, after: string): Promise<FilesPlan> =>
    repository.planFiles({ ref: revision, after, path, globs: [], purpose: "archive" });
  const first = await plan(ref, "");
  if (path !== "" && first.files.paths.length === 0) throw new GitError("not-found", { what: "path" });
  return answerByIds(context, [first.commit, format], isHexOid(ref), () => {
    const headers = {
      "Content-Type": TYPES[format],
      "Content-Disposition": contentDisposition("attachment", `${nameOf(context.req.param("repo"), ref)}.${format}`),
    };
    if (context.req.method === "HEAD") return new Response(null, { headers });
    const reader = new BlobReader(context.get("reading"), "archive");
    const source = {
      ...first,
      prefix: encodeText(parsed.data.prefix),
      files: readPlanned(first, (after) => plan(first.commit, after), reader),
    };
    return new Response(makeBody(source, format, reader), { headers });
  });
});

/** @param name byte string @throws GitError "not-found" when it ends in no format's name */
function splitName(name: string): { ref: string; format: Format } {
  const format = FORMATS.find((one) => name.endsWith(`.${one}`));
  if (format === undefined) {
    throw new GitError("not-found", { what: "archive", reason: "its name must end in .tar, .tar.gz or .zip" });
  }
  return { ref: name.slice(0, -format.length - 1), format };
}

/** What the file is called where it is saved: slashes are not for file names. */
function nameOf(repository: string, ref: string): string {
  return encodeText(`${repository.replace(/\.git$/, "")}-${decodeText(ref).replaceAll("/", "-")}`);
}

function makeBody(source: ArchiveSource, format: Format, reader: BlobReader): ReadableStream<Uint8Array> {
  const settle = (sentBytes: number, complete: boolean): void => {
    reader.sent(sentBytes);
    reader.finish(complete);
  };
  if (format === "zip") return streamPieces(zipArchive(source), settle);
  const tar = tarArchive(source);
  return streamPieces(format === "tar.gz" ? compressedPieces(tar, "gzip")[Symbol.asyncIterator]() : tar, settle);
}
