import { z } from "@hono/zod-openapi";
import { isHexOid } from "../../../base/format/oid.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { OidSchema, RefSchema, RepositoryParams, json } from "../common/schemas.ts";

const Count = z.number().int().min(0);

const Languages = z
  .object({
    tree: OidSchema,
    files: Count,
    bytes: Count,
    languages: z
      .array(
        z.object({
          name: z.string(),
          type: z.enum(["programming", "markup", "data", "prose"]),
          color: z.string().nullable().openapi({ description: "#rrggbb" }),
          files: Count,
          bytes: Count,
        }),
      )
      .openapi({ description: "most bytes first" }),
    other: z.object({ files: Count, bytes: Count }).openapi({ description: "files whose language is unknown" }),
  })
  .openapi("Languages");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/languages",
  tags: ["stats"],
  summary: "Count files and bytes by language",
  description:
    "Counts all files of the tree, including vendored and generated ones, but not symbolic links and submodules. Languages are detected by file name only. " +
    "An extension that several languages use always counts for the same one: `.h` is C.",
  request: { params: RepositoryParams, query: z.object({ ref: RefSchema.default("HEAD") }) },
  responses: {
    200: { description: "The counts.", ...json(Languages) },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/languages`: files and bytes by language. */
export const languageRoutes = newRoutes().openapi(read, async (context) => {
  const { ref } = context.req.valid("query");
  const languages = await repositoryOf(context).languages(ref);
  return answerByIds(context, [languages.tree], isHexOid(ref), () => context.json(languages, 200));
});
