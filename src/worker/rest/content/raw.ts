import { z } from "@hono/zod-openapi";
import { contentDisposition, safeContentType } from "../../../base/format/content-type.ts";
import { answerBytes } from "../../../base/format/conditional-request.ts";
import type { StoredLfsObject } from "../../../contract/lfs.ts";
import type { LocatedFile } from "../../../contract/files.ts";
import { readLfsObject, requireStored } from "../../files/blob-reader.ts";
import { readFile } from "../../files/read-file.ts";
import { FOR_EVER } from "../common/conditional.ts";
import { ErrorSchema, failures } from "../common/error.ts";
import { pathParts } from "../common/path-parts.ts";
import { defineRoute, newRoutes, repositoryOf, type RestEnv, serveBelow } from "../common/routes.ts";
import { RepositoryParams, json } from "../common/schemas.ts";

/** Content-Security-Policy that keeps a file from running scripts or loading anything with the
 * rights of a logged-in user. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/raw/{ref}/{path}",
  tags: ["files"],
  summary: "Download a file",
  description:
    "Slashes in the path, and in the name of a branch or tag, need not be encoded. If both a branch and a tag match, the branch is used.",
  request: {
    params: RepositoryParams.extend({ ref: z.string().min(1), path: z.string().min(1) }),
    query: z.object({
      lfs: z.enum(["true", "false"]).default("false").openapi({
        description:
          "whether to send, for a pointer file of Git LFS, the object that it names: 404 if that is not there",
      }),
    }),
    headers: z.object({ range: z.string().optional().openapi({ example: "bytes=0-99" }) }),
  },
  responses: {
    200: { description: "The file.", content: { "*/*": { schema: z.string().openapi({ format: "binary" }) } } },
    206: {
      description: "The requested range of the file.",
      content: { "*/*": { schema: z.string().openapi({ format: "binary" }) } },
    },
    304: { description: "Not modified." },
    412: {
      description: "The file does not match the precondition.",
      ...json(ErrorSchema),
    },
    416: {
      description: "The range contains no byte of the file.",
      ...json(ErrorSchema),
    },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/raw/:ref/*path`: the bytes of a file. */
export const rawRoutes = newRoutes();
serveBelow(rawRoutes, read, "/repos/:owner/:repo/raw/*", async (context, { lfs }) => {
  const file = await repositoryOf(context).locateFile(pathParts(context));
  const isFollowed = lfs === "true" && file.lfs !== null;
  return answerFile(context.req.raw, file, isFollowed ? requireStored(file.lfs!, file.path) : null, context.var);
});

/** Answers with a file, or with the LFS object that it names, with ranges and conditions.
 * @see RFC 9110, sections 13 and 14 */
async function answerFile(
  request: Request,
  file: LocatedFile,
  lfs: StoredLfsObject | null,
  variables: RestEnv["Variables"],
): Promise<Response> {
  const { path } = file;
  const { oid, sizeBytes } = lfs ?? file;
  const cacheControl = file.isImmutable ? FOR_EVER : "private, no-cache";
  const answer = answerBytes(request, { etag: `"${oid}"`, sizeBytes, cacheControl });
  switch (answer.kind) {
    case "unchanged":
      return new Response(null, { status: 304, headers: answer.headers });
    case "precondition-failed":
      return refuse(412, "precondition-failed", "the file is not the one that the request expects");
    case "unsatisfiable":
      return refuse(416, "range", `the file has ${sizeBytes} bytes`, answer.headers);
    case "bytes":
  }
  const { status, headers, range } = answer;
  headers.set("Content-Type", safeContentType(path));
  headers.set("Content-Disposition", contentDisposition("inline", path.slice(path.lastIndexOf("/") + 1)));
  headers.set("Content-Security-Policy", SANDBOX);
  headers.set("X-Content-Type-Options", "nosniff");
  if (request.method === "HEAD") return new Response(null, { status, headers });
  const { reading, repository } = variables;
  const body =
    lfs === null
      ? await readFile(file, range, reading, (oid) => repository.locateBlob(oid))
      : await readLfsObject(lfs, range, reading);
  return new Response(body, { status, headers });
}

function refuse(status: 412 | 416, code: string, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error: { code, message } }, { status, headers: { ...headers, "Cache-Control": "no-store" } });
}
