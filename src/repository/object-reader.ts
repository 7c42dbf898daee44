import { OID_BYTES } from "../format/oid.ts";
import { parseTree, typeOfMode } from "../format/tree.ts";
import type { ChunkStore } from "../store/chunk-store.ts";
import type { Tables } from "../store/tables.ts";
import { DeltaChains, type DeltaCodec, type WholeObject } from "./delta-chains.ts";
import { linkChains } from "./delta-links.ts";
import { PackDraft } from "./pack-draft.ts";

/** Reads stored objects whole. */
export class ObjectReader {
  readonly #tables: Tables;
  readonly #chunks: ChunkStore;
  readonly #codec: DeltaCodec;

  constructor(tables: Tables, chunks: ChunkStore, codec: DeltaCodec) {
    this.#tables = tables;
    this.#chunks = chunks;
    this.#codec = codec;
  }

  /** Reads one object by its number.
   * @throws GitError "storage-failed", "corrupt-pack" when what is stored is not what was proven */
  async read(number: number): Promise<WholeObject> {
    const draft = new PackDraft(this.#tables.chunks);
    const { links, expansions } = linkChains(this.#tables.objects, draft, [number]);
    return new DeltaChains(draft.finish(1, links, expansions), this.#chunks, this.#codec).resolve(expansions[0]!);
  }

  /** Object numbers of a tree's entries, gitlinks left out.
   * @throws GitError "storage-failed" */
  async readEntries(tree: number): Promise<number[]> {
    const { bytes } = await this.read(tree);
    const entries = parseTree(bytes).filter(({ mode }) => typeOfMode(mode) !== "commit");
    const oids = new Uint8Array(entries.length * OID_BYTES);
    entries.forEach(({ oid }, i) => oids.set(oid, i * OID_BYTES));
    return [...this.#tables.objects.lookupMany(oids).number];
  }
}
