import type { Codec } from "../../base/codec/codec.ts";
import type { DeltaPiece } from "../../base/format/delta.ts";
import type { ObjectType } from "../../base/format/object.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";

/** An object that the server made. */
export interface NewObject {
  readonly oid: Oid;
  readonly type: ObjectType;
  readonly content: Uint8Array;
  /** What it was made from, null: nothing. */
  readonly origin: Origin | null;
}

/** A stored object of the same type that is similar to a new one. */
interface Origin {
  readonly oid: Oid;
  readonly content: Uint8Array;
  /** The new object as pieces of this one and new bytes. */
  readonly pieces: readonly DeltaPiece[];
}

/** Objects that the server made and that are only in memory, until they are pushed. Code that may
 * meet new objects searches here before the repository. */
export class NewObjects {
  readonly #codec: Pick<Codec, "hashObjects">;
  readonly #before: NewObjects | null;
  readonly #objects = new Map<string, NewObject>();

  /** @param before earlier new objects, to which these may refer; they are found here, too */
  constructor(codec: Pick<Codec, "hashObjects">, before: NewObjects | null = null) {
    this.#codec = codec;
    this.#before = before;
  }

  /** The id of an object that may be added later.
   * @throws GitError "sha1-collision" */
  idOf(type: ObjectType, content: Uint8Array): Oid {
    const [oid] = this.#codec.hashObjects([{ type, content }]);
    return oid!;
  }

  /** Adds an object; it may be here already.
   * @param content must not be changed by the caller afterwards
   * @throws GitError "sha1-collision" */
  add(type: ObjectType, content: Uint8Array, origin: Origin | null = null): Oid {
    const oid = this.idOf(type, content);
    this.addKnown({ oid, type, content, origin });
    return oid;
  }

  /** Adds an object whose id is known, as `idOf` gave it: content is not hashed again. */
  addKnown(object: NewObject): void {
    if (this.#before?.find(object.oid) === undefined) this.#objects.set(toHex(object.oid), object);
  }

  /** Finds an object; undefined: it is not new. */
  find(oid: Oid): NewObject | undefined {
    return this.#objects.get(toHex(oid)) ?? this.#before?.find(oid);
  }

  /** The objects added here, in that order. An object follows those that it refers to. */
  all(): readonly NewObject[] {
    return [...this.#objects.values()];
  }
}
