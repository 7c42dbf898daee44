import { z } from "@hono/zod-openapi";
import { encodeText } from "../../../base/format/byte-string.ts";
import { contentDisposition } from "../../../base/format/content-type.ts";
import { isHexOid } from "../../../base/format/oid.ts";
import { ARCHIVE_TYPES, nameArchive, planArchive, splitArchiveName } from "../../files/sent-archive.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { pathParts } from "../common/path-parts.ts";
import { defineRoute, newRoutes, repositoryOf, serveBelow } from "../common/routes.ts";
import { pathOf, PathSchema, RepositoryParams } from "../common/schemas.ts";

const Query = z.object({
  path: PathSchema.default("").openapi({ description: "only this file or directory" }),
  prefix: z
    .string()
    .max(1_000)
    // oxlint-disable-next-line no-control-regex -- control characters are refused here.
    .regex(/^(?!\/)(?!(.*\/)?\.\.(\/|$))[^\u0000-\u001f\u007f]*$/, "it must be a relative path")
    .default("")
    .openapi({ description: "prepended to every path; end it with a slash to name a directory", example: "my-repo/" }),
  lfs: z.enum(["true", "false"]).default("false").openapi({
    description:
      "whether files that are pointers of Git LFS have the content of their objects: 404 if one of these is not there",
  }),
});

const content = { schema: z.string().openapi({ format: "binary" }) };

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/archive/{file}",
  tags: ["files"],
  summary: "Download the files of a commit as an archive",
  description:
    "`file` is a ref followed by `.tar`, `.tar.gz` or `.zip`. The contents are the same as those of `git archive`, unless `lfs` is true. " +
    "Where `export-subst` is set, `$Format:…$` is expanded if the commit alone determines its placeholders: " +
    "`%H %h %T %t %P %p %s %f %b %B %e %n %% %x00`, and `%an %ae %al %ad %aD %ai %aI %as %at`, likewise with `c`. " +
    "With any other (`%d`, `%D`, `%(describe)`, which change with the refs; `%ar`, `%aN`, `%N`, `%G?`, trailers, colors, padding) the mark stays as it is written.",
  request: {
    params: RepositoryParams.extend({ file: z.string().openapi({ example: "main.tar.gz" }) }),
    query: Query,
  },
  responses: {
    200: {
      description: "The archive.",
      content: Object.fromEntries(Object.values(ARCHIVE_TYPES).map((type) => [type, content])),
    },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/archive/:ref.{tar,tar.gz,zip}`. */
export const archiveRoutes = newRoutes();
serveBelow(archiveRoutes, read, "/repos/:owner/:repo/archive/*", async (context, { prefix, lfs }) => {
  const { ref, format } = splitArchiveName(pathParts(context).join("/"));
  const request = { ref, path: pathOf(context), prefix: encodeText(prefix), lfs: lfs === "true" };
  const archive = await planArchive(repositoryOf(context), request, context.get("reading"));
  // A missing LFS object may be uploaded later.
  const isImmutable = isHexOid(ref) && lfs === "false";
  return answerByIds(context, [archive.commit, format, lfs], isImmutable, async () => {
    const name = `${nameArchive(context.req.param("repo"), ref)}.${format}`;
    const headers = {
      "Content-Type": ARCHIVE_TYPES[format],
      "Content-Disposition": contentDisposition("attachment", name),
    };
    return new Response(context.req.method === "HEAD" ? null : await archive.open(format), { headers });
  });
});
