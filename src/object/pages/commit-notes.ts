import { isGitError } from "../../base/format/errors.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";
import { isFileMode, isTreeMode } from "../../base/format/tree.ts";
import { findTreeEntry } from "../../base/format/tree-splice.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, revisionOf } from "../objects/revision.ts";
import { readTree } from "../objects/tree-contents.ts";
import { type CommitNotes, type CommitNote, NOTES_REF } from "../../contract/pages.ts";

/** Bytes of a note that a page shows. */
export const MAX_NOTE_BYTES = 64 * 1024;

/** Bytes of the trees that are read for one commit. Those that git writes have a few dozen KiB
 * together for a million notes; this is a directory of 15,000. */
const MAX_TREE_BYTES = 1024 * 1024;

const UTF_8 = new TextDecoder();

/** Reads the notes of a commit. In the tree of notes a commit's id is the path of its note, with a
 * slash after as many pairs of digits as whoever wrote it liked ("fan-out").
 * @see git's notes.c: load_subtree() */
export async function readNotes(repository: OpenRepository, commit: Oid): Promise<CommitNotes> {
  const id = toHex(commit);
  const notes: CommitNote[] = [];
  let tree = findRoot(repository);
  let path = "";
  let left = MAX_TREE_BYTES;
  for (let at = 0; tree !== null && at < id.length; at += 2) {
    left -= sizeOf(repository, tree);
    if (left < 0) return { notes, isWhole: false };
    const content = await readTree(repository, tree);
    const note = findTreeEntry(content, id.slice(at));
    const pair = id.slice(at, at + 2);
    const below = findTreeEntry(content, pair);
    if (note !== null && isFileMode(note.mode)) notes.unshift(await readNote(repository, note.oid, path + note.name));
    tree = below !== null && isTreeMode(below.mode) ? below.oid : null;
    path += `${pair}/`;
  }
  return { notes, isWhole: true };
}

/** The tree of all notes; null: there are none, or the ref leads to a file. */
function findRoot(repository: OpenRepository): Oid | null {
  const tip = repository.advertised.find(NOTES_REF);
  if (tip === null) return null;
  try {
    return peel(repository, revisionOf(repository, repository.numberOf(tip)), "tree").oid;
  } catch (error) {
    if (isGitError(error, "wrong-type")) return null;
    throw error;
  }
}

async function readNote(repository: OpenRepository, oid: Oid, path: string): Promise<CommitNote> {
  const sizeBytes = sizeOf(repository, oid);
  const isShown = sizeBytes <= MAX_NOTE_BYTES;
  const text = isShown ? UTF_8.decode((await repository.reader.read(repository.numberOf(oid))).bytes) : null;
  return { oid: toHex(oid), path, sizeBytes, text };
}

function sizeOf(repository: OpenRepository, oid: Oid): number {
  return repository.tables.objects.find(oid)?.size ?? 0;
}
