// Shared by all objects of an isolate, and by the Worker where it runs in the same one, as in the
// local runtime.
import wasm from "./codec/holdfast.wasm";
import { instantiateCodec } from "./codec/codec.ts";
import { Traffic } from "./pacing/traffic.ts";

/** Its calls are synchronous, so requests cannot interleave within it. */
export const codec = instantiateCodec(wasm);

/** The requests that jobs give way to. */
export const traffic = new Traffic();
