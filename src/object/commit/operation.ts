import type { Codec } from "../../base/codec/codec.ts";
import { listFindings } from "../../base/codec/fsck-messages.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { checkLimit, MAX_COMMIT_DIRECTORIES, MAX_COMMIT_OPERATIONS, MAX_PATH_BYTES } from "../../base/format/limits.ts";
import { NULL_OID } from "../../base/format/oid.ts";
import { encodeTree, FILE_MODE, GITLINK_MODE, isTreeMode, typeOfMode } from "../../base/format/tree.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import type { DraftEntry, TreeDraft } from "./tree-draft.ts";
import { type Operation, FILE_MODES, type FileMode } from "../../contract/commits.ts";

/** Names that fsck looks at together: a call for each would take longer than the look. */
const NAMES_PER_CHECK = 1_000;

/** The paths that an operation names. */
export function pathsOf(operation: Operation): string[] {
  return operation.op === "move" ? [operation.from, operation.to] : [operation.path];
}

/** Refuses paths that could not be checked out, by the rules for pushed trees.
 * @param refused fsck messages that refuse an object, one bit each
 * @throws GitError "invalid", with the field; "too-large" when they have too many names */
export async function checkOperations(codec: Codec, refused: bigint, operations: readonly Operation[]): Promise<void> {
  const slice = new TimeSlice();
  const faults = await findNameFaults(codec, refused, await collectNames(operations, slice), slice);
  for (const [i, operation] of operations.entries()) {
    await slice.pause();
    const refuse = (key: string, path: string, reason: string | null): void => {
      if (reason === null) return;
      const field = `operations.${i}.${key}`;
      throw new GitError("invalid", { what: "path", actual: decodeText(path), field, reason });
    };
    const checkName = (key: string, path: string): void =>
      refuse(key, path, findFault(path) ?? (faults.size === 0 ? null : faultOf(path, faults)));
    if (operation.op !== "move") {
      checkName("path", operation.path);
      continue;
    }
    const { from, to } = operation;
    refuse("from", from, findFault(from));
    checkName("to", to);
    if (`${to}/`.startsWith(`${from}/`)) refuse("to", to, "it is inside the moved path");
  }
}

/** The names in the paths that operations write to, each once. */
async function collectNames(operations: readonly Operation[], slice: TimeSlice): Promise<Set<string>> {
  const names = new Set<string>();
  for (const operation of operations) {
    await slice.pause();
    const path = operation.op === "move" ? operation.to : operation.path;
    if (findFault(path) !== null) continue;
    for (const name of path.split("/")) names.add(name);
    // Each name is a directory's, or the last of a path.
    checkLimit("the names in one commit's paths", MAX_COMMIT_DIRECTORIES + MAX_COMMIT_OPERATIONS, names.size);
  }
  return names;
}

/** Applies operations one after the other.
 * @throws GitError "not-found" when a required path is missing, "conflict" when something is in the
 * way; with the field */
export async function applyOperations(draft: TreeDraft, operations: readonly Operation[]): Promise<void> {
  const slice = new TimeSlice();
  for (const [i, operation] of operations.entries()) {
    await new Step(draft, i).run(operation);
    await slice.pause();
  }
}

/** The execution of one operation. */
class Step {
  readonly #draft: TreeDraft;
  readonly #index: number;

  constructor(draft: TreeDraft, index: number) {
    this.#draft = draft;
    this.#index = index;
  }

  async run(operation: Operation): Promise<void> {
    switch (operation.op) {
      case "put":
        return this.#put(operation.path, operation.content, operation.mode);
      case "delete":
        await this.#demand("path", operation.path);
        return this.#draft.put(operation.path.split("/"), null);
      case "move": {
        const entry = await this.#demand("from", operation.from);
        await this.#draft.put(operation.from.split("/"), null);
        if ((await this.#look("to", operation.to)) !== null) throw this.#conflict("to", operation.to, "already exists");
        return this.#draft.put(operation.to.split("/"), entry);
      }
      case "mode": {
        const entry = await this.#demand("path", operation.path);
        if (typeOfMode(entry.mode) !== "blob") throw this.#conflict("path", operation.path, "is not a file");
        return this.#draft.put(operation.path.split("/"), { ...entry, mode: FILE_MODES[operation.mode] } as DraftEntry);
      }
    }
  }

  async #put(path: string, content: Uint8Array, mode: FileMode | null): Promise<void> {
    const there = await this.#look("path", path);
    if (there !== null && typeOfMode(there.mode) !== "blob") {
      throw this.#conflict("path", path, isTreeMode(there.mode) ? "is a directory" : "is a submodule");
    }
    const kept = mode === null ? (there?.mode ?? FILE_MODE) : FILE_MODES[mode];
    await this.#draft.put(path.split("/"), this.#draft.newFile(kept, content));
  }

  async #demand(key: string, path: string): Promise<DraftEntry> {
    const entry = await this.#draft.find(path.split("/"));
    if (entry !== null && entry !== "blocked") return entry;
    throw new GitError("not-found", { what: "path", field: this.#field(key), reason: decodeText(path) });
  }

  async #look(key: string, path: string): Promise<DraftEntry | null> {
    const entry = await this.#draft.find(path.split("/"));
    if (entry === "blocked") throw this.#conflict(key, path, "would be below a file");
    return entry;
  }

  #conflict(key: string, path: string, reason: string): GitError {
    return new GitError("conflict", {
      what: "operation",
      field: this.#field(key),
      reason: `${decodeText(path)} ${reason}`,
    });
  }

  #field(key: string): string {
    return `operations.${this.#index}.${key}`;
  }
}

/** What is wrong with a path in itself, null: nothing. */
function findFault(path: string): string | null {
  if (path.length > MAX_PATH_BYTES) return `it is longer than ${MAX_PATH_BYTES} bytes`;
  if (path.includes("\0")) return "it contains a NUL";
  if (path.split("/").includes("")) return "one of its parts is empty";
  return null;
}

/** The fsck findings that refuse a tree, by the name that it has an entry of. */
async function findNameFaults(
  codec: Codec,
  refused: bigint,
  names: ReadonlySet<string>,
  slice: TimeSlice,
): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>();
  const findingsOf = (some: readonly string[]): bigint => {
    const tree = encodeTree(some.map((name) => ({ mode: GITLINK_MODE, name, oid: PROBE_OID })));
    return codec.checkObject("tree", tree).findings & refused;
  };
  const all = [...names];
  for (let from = 0; from < all.length; from += NAMES_PER_CHECK) {
    const some = all.slice(from, from + NAMES_PER_CHECK);
    await slice.pause();
    if (findingsOf(some) === 0n) continue;
    for (const name of some) {
      const findings = findingsOf([name]);
      if (findings !== 0n) faults.set(name, listFindings(findings).join(", "));
    }
  }
  return faults;
}

function faultOf(path: string, faults: ReadonlyMap<string, string>): string | null {
  for (const name of path.split("/")) if (faults.has(name)) return faults.get(name)!;
  return null;
}

/** Any id but the null one, which fsck objects to. */
const PROBE_OID = NULL_OID.map(() => 1);
