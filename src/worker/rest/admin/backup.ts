import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import type { BundleHeader } from "../../../base/format/bundle.ts";
import { contentDisposition } from "../../../base/format/content-type.ts";
import { GitError, isGitError } from "../../../base/format/errors.ts";
import { MAX_COMMAND_BYTES, MAX_REF_NAME_BYTES, MAX_REFS_PER_PUSH } from "../../../base/format/limits.ts";
import { concatOids, equalOids, isNullOid, NULL_OID, OID_BYTES, type Oid, toHex } from "../../../base/format/oid.ts";
import { PACK_HEADER_BYTES, PACK_TRAILER_BYTES } from "../../../base/format/pack.ts";
import { isPushableRefName, HEADS } from "../../../base/format/ref-name.ts";
import { streamBundle, openBundle } from "../../files/bundles.ts";
import {
  type PushResult,
  type RefCommand,
  explainRefusal,
  findRefused,
  type RefusedRef,
} from "../../../contract/push.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { BranchSchema, OidSchema, RepositoryParams, json } from "../common/schemas.ts";

const BUNDLE_TYPE = "application/x-git-bundle";

const content = { [BUNDLE_TYPE]: { schema: z.string().openapi({ format: "binary" }) } };

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/backup.bundle",
  tags: ["repositories"],
  summary: "Back up a repository",
  description:
    "A Git bundle of all refs at one moment and all objects they reach. `git clone` accepts it in place of a URL.",
  request: { params: RepositoryParams },
  responses: { 200: { description: "The bundle.", content }, ...failures() },
});

const Restored = z
  .object({
    refs: z.array(z.object({ name: z.string(), oid: OidSchema })),
    defaultBranch: z.string().nullable().openapi({ description: "null if the restore did not choose it" }),
  })
  .openapi("Restored");

const answer = (description: string) => ({ description, ...json(Restored) });

const restore = defineRoute("write", {
  method: "put",
  path: "/repos/{owner}/{repo}/backup.bundle",
  tags: ["repositories"],
  summary: "Restore a repository",
  description:
    "Takes a complete Git bundle of version 2, without prerequisite commits. The repository must have no refs, or not exist: it is created then. Everything is restored, or nothing.",
  request: {
    params: RepositoryParams,
    query: z.object({
      defaultBranch: BranchSchema.optional().openapi({
        description: "default: the branch that the bundle's HEAD is at; of several, main or master first",
      }),
    }),
    body: { required: true, content },
  },
  responses: {
    200: answer("The repository already holds all of it."),
    201: answer("The repository is restored."),
    ...failures(408, 409),
  },
});

/** `/repos/:owner/:repo/backup.bundle`: GET backs up a repository, PUT restores it. */
export const backupRoutes = newRoutes()
  .openapi(read, async (context) => {
    const { owner, repo } = context.req.valid("param");
    const bundle = await repositoryOf(context).planBackup();
    const { entriesBytes } = bundle.plan;
    const name = encodeText(`${owner}-${repo.replace(/\.git$/, "")}.bundle`);
    const headers = new Headers({
      "Content-Type": BUNDLE_TYPE,
      "Content-Disposition": contentDisposition("attachment", name),
      "Cache-Control": "no-store",
    });
    // Unknown in advance if deltas must be resolved.
    const sizeBytes =
      entriesBytes < 0 ? null : bundle.header.length + PACK_HEADER_BYTES + entriesBytes + PACK_TRAILER_BYTES;
    if (sizeBytes !== null) headers.set("Content-Length", String(sizeBytes));
    if (context.req.method === "HEAD") return new Response(null, { headers }) as never;
    const body = streamBundle(bundle, context.get("reading"));
    // Declares the length to the runtime, and so to the client.
    const sized = sizeBytes === null ? body : body.pipeThrough(new FixedLengthStream(sizeBytes));
    return new Response(sized, { headers }) as never;
  })
  .openapi(restore, async (context) => {
    const { owner, repo } = context.req.valid("param");
    const { defaultBranch } = context.req.valid("query");
    const { body } = context.req.raw;
    if (body === null) throw new GitError("invalid", { what: "bundle", reason: "the request has no body" });
    const { header, pack } = await openBundle(body, MAX_COMMAND_BYTES);
    const refs = readRefs(header);
    const head = chooseHead(header, defaultBranch === undefined ? null : encodeText(defaultBranch));
    const shown = refs.names.map((name, i) => ({ name: decodeText(name), oid: toHex(refs.oids, i * OID_BYTES) }));
    if (await isRestored(repositoryOf(context).checkRestore(refs))) {
      await pack.cancel();
      // Only an admin may change HEAD of an existing repository.
      return context.json({ refs: shown, defaultBranch: null }, 200);
    }
    await pushAll((commands) => context.get("host").push(owner, repo, commands, pack), refs);
    const branch = head?.slice(HEADS.length) ?? null;
    if (branch !== null) await repositoryOf(context).setDefaultBranch(branch);
    return context.json({ refs: shown, defaultBranch: branch && decodeText(branch) }, 201);
  });

/** Waits for the check. A repository that does not exist cannot have been restored yet. */
async function isRestored(checking: Promise<boolean>): Promise<boolean> {
  try {
    return await checking;
  } catch (error) {
    if (isGitError(error, "not-found")) return false;
    throw error;
  }
}

interface Refs {
  /** Byte strings. */
  readonly names: string[];
  /** Packed ids. */
  readonly oids: Uint8Array;
}

/** Reads the refs of a bundle, except HEAD.
 * @throws GitError "invalid" when such a bundle is not a backup, "too-large" */
function readRefs({ prerequisites, names, oids }: BundleHeader): Refs {
  const invalid = (reason: string): GitError => new GitError("invalid", { what: "bundle", reason });
  if (prerequisites.length > 0) throw invalid(`it needs commit ${toHex(prerequisites[0]!)}, which is not in it`);
  const kept = names.map((_, i) => i).filter((i) => names[i] !== "HEAD");
  if (kept.length === 0) throw invalid("there is no ref in it");
  if (kept.length > MAX_REFS_PER_PUSH) {
    throw new GitError("too-large", { what: "the number of refs", limit: MAX_REFS_PER_PUSH, actual: kept.length });
  }
  for (const i of kept) {
    const shown = JSON.stringify(decodeText(names[i]!.slice(0, MAX_REF_NAME_BYTES)));
    if (!isPushableRefName(names[i]!, false)) throw invalid(`${shown} in it is no name of a ref`);
    if (isNullOid(oidAt(oids, i))) throw invalid(`${shown} in it leads to nothing`);
  }
  return { names: kept.map((i) => names[i]!), oids: concatOids(kept.map((i) => oidAt(oids, i))) };
}

/** Chooses the branch that HEAD will name; null: left to the server.
 * @param asked without `refs/heads/`; null: the branch that the bundle's HEAD is at
 * @throws GitError "invalid" when it is not in the bundle, or HEAD is at none of its branches */
function chooseHead({ names, oids }: BundleHeader, asked: string | null): string | null {
  if (asked !== null) {
    if (names.includes(HEADS + asked)) return HEADS + asked;
    throw new GitError("invalid", { what: "defaultBranch", field: "defaultBranch", reason: "it is not in the bundle" });
  }
  const head = names.indexOf("HEAD");
  if (head < 0 || !names.some((name) => name.startsWith(HEADS))) return null;
  const there = names.filter((name, i) => name.startsWith(HEADS) && equalOids(oidAt(oids, i), oidAt(oids, head)));
  const chosen = ["main", "master"].map((name) => HEADS + name).find((name) => there.includes(name)) ?? there[0];
  if (chosen !== undefined) return chosen;
  throw new GitError("invalid", {
    what: "bundle",
    reason: "its HEAD is at none of its branches: choose a defaultBranch",
  });
}

/** Creates all refs.
 * @throws GitError "invalid" or "too-large" when the pack is refused, "conflict" or "forbidden"
 * when a ref is refused */
async function pushAll(push: (commands: RefCommand[]) => Promise<PushResult>, { names, oids }: Refs): Promise<void> {
  const { unpack, refs } = await push(names.map((name, i) => ({ name, old: NULL_OID, new: oidAt(oids, i) })));
  if (unpack !== null) throw packError(unpack);
  const refused = findRefused(refs);
  if (refused !== null) throw refError(refused);
}

/** The API's error for a refused pack. */
function packError(error: GitError): GitError {
  const reason = decodeText(error.message);
  switch (error.code) {
    case "too-large":
    case "unavailable":
      return error;
    // The right was lost while the bundle was arriving.
    case "unauthenticated":
      return new GitError("unauthenticated", { what: "token" });
    case "forbidden":
      return new GitError("forbidden", { what: "this restore", reason });
    default:
      return new GitError("invalid", { what: "bundle", reason });
  }
}

/** The API's error for a refused ref: the bundle is wrong, or an existing ref conflicts. */
function refError({ name, refusal }: RefusedRef): GitError {
  const reason = `${decodeText(name)}: ${decodeText(explainRefusal(refusal))}`;
  switch (refusal.kind) {
    case "forbidden":
      return new GitError("forbidden", { what: "this restore", reason });
    case "stale":
    case "conflict":
      return new GitError("conflict", { subject: "repository", reason });
    default:
      return new GitError("invalid", { what: "bundle", reason });
  }
}

function oidAt(oids: Uint8Array, i: number): Oid {
  return oids.subarray(i * OID_BYTES, (i + 1) * OID_BYTES);
}
