import type { Codec } from "../../codec/codec.ts";
import type { RepositoryPlatform } from "../state/repository-platform.ts";

/** What the Worker needs to read stored bytes. The object only says where they are stored. */
export interface Reading extends Pick<RepositoryPlatform, "openChunks" | "observe"> {
  readonly codec: Codec;
}
