import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { isHexOid, OID_BYTES, toHex } from "../../../base/format/oid.ts";
import { formatMode, isTreeMode, SYMLINK_MODE, typeOfMode } from "../../../base/format/tree.ts";
import { type FileColumns, type LfsFile, MAX_ENTRIES_PER_PAGE, MAX_FILES_PER_PAGE } from "../../../contract/files.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import {
  CommitSchema,
  ModeSchema,
  OidSchema,
  pathOf,
  PathSchema,
  RefSchema,
  RepositoryParams,
  json,
} from "../common/schemas.ts";

const Entry = z.object({
  path: z.string().openapi({ description: "from the repository's root" }),
  type: z.enum(["file", "dir", "symlink", "submodule"]),
  mode: ModeSchema,
  oid: OidSchema,
  size: z.number().int().nullable().openapi({ description: "bytes; null for directories and submodules" }),
  lfs: z
    .union([z.object({ oid: z.string(), size: z.number().int() }), z.null()])
    .optional()
    .openapi({
      description: "if asked for, the Git LFS object that the file is a pointer to; null: it is no pointer",
    }),
});

const DirectorySchema = z
  .object({
    commit: OidSchema,
    tree: OidSchema,
    path: z.string(),
    entries: z.array(
      Entry.extend({
        name: z.string(),
        lastCommit: z.union([OidSchema, z.null()]).optional().openapi({
          description: "the last commit that changed it, if requested; null: not found in time",
        }),
      }),
    ),
    nextCursor: NextCursor,
    commits: z.array(CommitSchema).openapi({ description: "the commits named by `lastCommit`" }),
    truncated: z.boolean().openapi({ description: "whether time ran out before every `lastCommit` was found" }),
  })
  .openapi("Directory");

const FilesSchema = z
  .object({ commit: OidSchema, files: z.array(Entry), nextCursor: NextCursor })
  .openapi("Files", { description: "sorted by the bytes of their paths" });

const Ref = RefSchema.default("HEAD");
const Path = PathSchema.default("").openapi({ description: "a directory; default: the root" });

const Lfs = z
  .enum(["true", "false"])
  .default("false")
  .openapi({ description: "whether to say which files are pointers of Git LFS" });

const list = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/files",
  tags: ["files"],
  summary: "List a directory",
  request: {
    params: RepositoryParams,
    query: z.object({
      ref: Ref,
      path: Path,
      lastCommit: z
        .enum(["true", "false"])
        .default("false")
        .openapi({ description: "whether to include the last commit that changed each entry" }),
      limit: z.coerce.number().int().min(1).max(MAX_ENTRIES_PER_PAGE).default(MAX_ENTRIES_PER_PAGE),
      cursor: PageQuery.shape.cursor,
      lfs: Lfs,
    }),
  },
  responses: {
    200: {
      description:
        "The entries of the directory, in the order of its tree. All pages show the commit of the first page. A page has fewer entries than `limit` when their paths are long.",
      ...json(DirectorySchema),
    },
    304: { description: "Not modified." },
    ...failures(),
  },
});

const listAll = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/files/all",
  tags: ["files"],
  summary: "List all files of a commit",
  request: {
    params: RepositoryParams,
    query: z.object({
      ref: Ref,
      path: Path,
      limit: z.coerce.number().int().min(1).max(MAX_FILES_PER_PAGE).default(MAX_FILES_PER_PAGE),
      cursor: PageQuery.shape.cursor,
      lfs: Lfs,
    }),
  },
  responses: {
    200: {
      description:
        "All files below the directory, without the directories themselves. All pages show the commit of the first page. A page may hold fewer files than `limit`, or none, when it passes many empty directories.",
      ...json(FilesSchema),
    },
    304: { description: "Not modified." },
    ...failures(),
  },
});

const Cursor = z.object({ commit: OidSchema, after: z.string() });

/** `/repos/:owner/:repo/files`, a directory; `/repos/:owner/:repo/files/all`, all files of a
 * commit. */
export const filesRoutes = newRoutes()
  .openapi(list, async (context) => {
    const { ref, lastCommit, limit, cursor: from, lfs } = context.req.valid("query");
    const path = pathOf(context);
    const cursor = decodeCursor(context, from, Cursor);
    const wanted = { lastCommits: lastCommit === "true", lfs: lfs === "true" };
    const directory = await repositoryOf(context).listDirectory({
      ref: cursor?.commit ?? encodeText(ref),
      path,
      after: cursor?.after ?? "",
      limit,
      ...wanted,
    });
    const { commits = [], indexes } = directory.lastCommits ?? {};
    const oids = commits.map(({ oid }) => oid);
    const files = showFiles(directory.entries, path === "" ? "" : `${path}/`);
    const entries = (wanted.lfs ? withLfs(files, directory.lfs) : files).map((entry, i) => ({
      name: decodeText(directory.entries.paths[i]!),
      ...entry,
      ...(indexes === undefined ? {} : { lastCommit: oids[indexes[i]!] ?? null }),
    }));
    const truncated = indexes?.includes(-1) ?? false;
    const { commit, tree, next } = directory;
    const nextCursor = next === null ? null : cursorFor(context, { commit, after: next });
    const answer = () =>
      context.json({ commit, tree, path: decodeText(path), entries, nextCursor, commits, truncated }, 200);
    // An incomplete answer must not be cached: the next one may be complete.
    if (truncated) return answer();
    return (await answerByIds(context, [commit], cursor !== null || isHexOid(ref), answer)) as ReturnType<
      typeof answer
    >;
  })
  .openapi(listAll, async (context) => {
    const query = context.req.valid("query");
    const cursor = decodeCursor(context, query.cursor, Cursor);
    const page = await repositoryOf(context).listFiles({
      ref: cursor?.commit ?? encodeText(query.ref),
      path: pathOf(context),
      after: cursor?.after ?? "",
      limit: query.limit,
      lfs: query.lfs === "true",
    });
    const { commit, next } = page;
    const shown = showFiles(page.files, "");
    const files = query.lfs === "true" ? withLfs(shown, page.lfs) : shown;
    const answer = () => {
      const nextCursor = next === null ? null : cursorFor(context, { commit, after: next });
      return context.json({ commit, files, nextCursor }, 200);
    };
    const isImmutable = cursor !== null || isHexOid(query.ref);
    return (await answerByIds(context, [commit], isImmutable, answer)) as ReturnType<typeof answer>;
  });

/** Converts entries of trees to JSON.
 * @param prefix byte string, prepended to their paths */
function showFiles({ paths, modes, oids, sizes }: FileColumns, prefix: string): z.infer<typeof Entry>[] {
  return paths.map((path, i) => {
    const mode = modes[i]!;
    const type = typeOfMode(mode);
    return {
      path: decodeText(prefix + path),
      type: isTreeMode(mode) ? "dir" : type === "commit" ? "submodule" : mode === SYMLINK_MODE ? "symlink" : "file",
      mode: formatMode(mode),
      oid: toHex(oids, i * OID_BYTES),
      size: type === "blob" ? sizes[i]! : null,
    };
  });
}

/** Adds to each entry the LFS object that it points to. */
function withLfs(entries: z.infer<typeof Entry>[], found: readonly LfsFile[]): z.infer<typeof Entry>[] {
  const named = new Map(found.map(({ index, oid, sizeBytes }) => [index, { oid, size: sizeBytes }]));
  return entries.map((entry, i) => ({ ...entry, lfs: named.get(i) ?? null }));
}
