import type { Codec } from "../../codec/codec.ts";
import type { RepositoryPlatform } from "../state/repository-state.ts";

/** What stored bytes are read with where no object is: in the Worker, which the object only tells where they lie. */
export interface Reading extends Pick<RepositoryPlatform, "openChunks" | "observe"> {
  readonly codec: Codec;
}
