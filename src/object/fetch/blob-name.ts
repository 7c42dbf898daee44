import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { isHexOid } from "../../base/format/oid.ts";
import { typeOfMode } from "../../base/format/tree.ts";
import { findTreeEntry } from "../../base/format/tree-splice.ts";
import { BLOB, TREE } from "../../base/format/object.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import type { AdvertisedRefs } from "../state/advertised-refs.ts";
import type { ObjectReader } from "../objects/object-reader.ts";

/** Resolves a blob's name: an id, or `<id or ref>:<path>`.
 * @param name byte string
 * @returns its object number, null: there is none
 * @see gitrevisions(7) */
export async function findBlob(
  stores: { objects: ObjectIndex; graph: CommitGraph; advertised: AdvertisedRefs; reader: ObjectReader },
  name: string,
): Promise<number | null> {
  const { objects, graph, advertised, reader } = stores;
  const colon = name.indexOf(":");
  const start = colon < 0 ? name : name.slice(0, colon);
  const [oid, ...others] = isHexOid(start) ? [start] : advertised.expand(start);
  if (oid === undefined || others.length > 0) return null;
  const row = objects.find(Uint8Array.fromHex(oid));
  if (row === null) return null;
  let number = row.number;
  if (colon >= 0) {
    number = rootTree(graph, number);
    for (const part of name.slice(colon + 1).split("/")) {
      const next = await findEntry(reader, objects, number, part);
      if (next === null) return null;
      number = next;
    }
  }
  return typeOf(objects, number) === BLOB ? number : null;
}

/** The tree that a commit or tag points to; anything else is returned itself. */
function rootTree(graph: CommitGraph, number: ObjectNumber): ObjectNumber {
  for (let position = graph.position(number); position >= 0; position = graph.parents(position)[0]!) {
    if (graph.tree(position) !== 0) return graph.tree(position);
  }
  return number;
}

async function findEntry(
  reader: ObjectReader,
  objects: ObjectIndex,
  tree: ObjectNumber,
  name: string,
): Promise<number | null> {
  if (typeOf(objects, tree) !== TREE) return null;
  const entry = findTreeEntry((await reader.read(tree)).bytes, name);
  // The commit of a gitlink may exist here by chance.
  if (entry === null || typeOfMode(entry.mode) === "commit") return null;
  return objects.find(entry.oid)?.number ?? null;
}

function typeOf(objects: ObjectIndex, number: ObjectNumber): number {
  return objects.locate(NumberSet.of(number)).type[0]!;
}
