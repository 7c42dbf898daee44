import type { Kind } from "../format/kinds.ts";

/** An object of a repository: the order of its arrival, from 1; 0: none. Nodes of the commit graph
 * are stored by it. */
export type ObjectNumber = Kind<"object number">;

/** A node of the commit graph in memory: its place there, parents before children, for one life of
 * the repository's object; −1: none. */
export type GraphPosition = Kind<"graph position">;

/** A chunk: the order in which it was stored, from 1. */
export type ChunkId = Kind<"chunk">;
