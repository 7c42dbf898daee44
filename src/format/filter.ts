import type { ObjectType } from "./object.ts";

/** Which objects of a partial clone come at once; the rest is fetched when needed.
 * @see git-rev-list(1) "--filter" */
export type ObjectFilter =
  /** No blobs. */
  | { readonly kind: "blob:none" }
  /** No blobs of at least so many bytes. */
  | { readonly kind: "blob:limit"; readonly limitBytes: number }
  /** No trees and blobs so deep or deeper; a commit's root tree has depth 0. */
  | { readonly kind: "tree"; readonly depth: number }
  /** Only objects of one type. */
  | { readonly kind: "object:type"; readonly type: ObjectType }
  /** Only those blobs whose paths a sparse-checkout file names; `blob` is an id or `<rev>:<path>`, byte string. */
  | { readonly kind: "sparse:oid"; readonly blob: string }
  /** What all of these let pass. */
  | { readonly kind: "combine"; readonly filters: readonly ObjectFilter[] };
