import type { Codec } from "../../codec/codec.ts";
import type { DeltaPiece } from "../../format/delta.ts";
import type { ObjectType } from "../../format/object.ts";
import { type Oid, toHex } from "../../format/oid.ts";

/** An object that the server made. */
export interface NewObject {
  readonly oid: Oid;
  readonly type: ObjectType;
  readonly content: Uint8Array;
  /** What it was made from, null: from nothing. */
  readonly origin: Origin | null;
}

/** A stored object of the same type that a new one differs little from. */
export interface Origin {
  readonly oid: Oid;
  readonly content: Uint8Array;
  /** What the new object consists of. */
  readonly pieces: readonly DeltaPiece[];
}

/** Objects that the server made and that lie in memory only, until they are pushed. Whoever reads the repository's objects looks here
 * first where some may be new. */
export class NewObjects {
  readonly #codec: Pick<Codec, "hashObjects">;
  readonly #before: NewObjects | null;
  readonly #objects = new Map<string, NewObject>();

  /** @param before new objects that these may refer to, and that are found here, too */
  constructor(codec: Pick<Codec, "hashObjects">, before: NewObjects | null = null) {
    this.#codec = codec;
    this.#before = before;
  }

  /** Adds an object, which may be here already.
   * @param content its owner's no longer
   * @throws GitError "sha1-collision" */
  add(type: ObjectType, content: Uint8Array, origin: Origin | null = null): Oid {
    const [oid] = this.#codec.hashObjects([{ type, content }]);
    if (this.#before?.find(oid!) === undefined) this.#objects.set(toHex(oid!), { oid: oid!, type, content, origin });
    return oid!;
  }

  /** Adds objects that were made after these. */
  addAll(objects: readonly NewObject[]): void {
    for (const object of objects) this.#objects.set(toHex(object.oid), object);
  }

  /** Finds an object; undefined: it is not new. */
  find(oid: Oid): NewObject | undefined {
    return this.#objects.get(toHex(oid)) ?? this.#before?.find(oid);
  }

  /** The objects that were added here, in the order in which they were added: what one refers to comes before it. */
  all(): readonly NewObject[] {
    return [...this.#objects.values()];
  }
}
