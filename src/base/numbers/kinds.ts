import type { Kind } from "../format/kinds.ts";

/** Number of an object in a repository: its order of arrival, from 1; 0: none. Nodes of the
 * commit graph are stored by it. */
export type ObjectNumber = Kind<"object number">;

/** Position of a node in the commit graph in memory, parents before children. Valid for one life
 * of the repository's object; −1: none. */
export type GraphPosition = Kind<"graph position">;

/** Id of a chunk: its order of storage, from 1. */
export type ChunkId = Kind<"chunk">;
