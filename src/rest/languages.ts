import { z } from "@hono/zod-openapi";
import { isHexOid } from "../format/oid.ts";
import { answerByIds } from "./conditional.ts";
import { failures } from "./error.ts";
import { defineRoute, newRoutes, repositoryOf } from "./routes.ts";
import { OidSchema, RefSchema, RepositoryParams } from "./schemas.ts";

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
      .openapi({ description: "the one with the most bytes first" }),
    other: z.object({ files: Count, bytes: Count }).openapi({ description: "files whose names tell no language" }),
  })
  .openapi("Languages");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/languages",
  tags: ["stats"],
  summary: "Sum up files by language",
  description:
    "All files of the tree, vendored and generated ones too, by their names alone; symbolic links and submodules are left out. " +
    "Where several languages claim an extension, one has it always: `.h` is C.",
  request: { params: RepositoryParams, query: z.object({ ref: RefSchema.default("HEAD") }) },
  responses: {
    200: { description: "The sums.", content: { "application/json": { schema: Languages } } },
    304: { description: "They are as the client has them." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/languages`: files and bytes by language. */
export const languageRoutes = newRoutes().openapi(read, async (context) => {
  const { ref } = context.req.valid("query");
  const languages = await repositoryOf(context).languages(ref);
  return answerByIds(context, [languages.tree], isHexOid(ref), () => context.json(languages, 200));
});
