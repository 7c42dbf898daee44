// State shared by all objects of an isolate, and by the Worker where it runs in the same one, as in
// the local runtime.
import wasm from "./codec/holdfast.wasm";
import { instantiateCodec } from "./codec/codec.ts";
import { Traffic } from "./pacing/traffic.ts";

/** The codec. Its calls are synchronous, so requests cannot interleave within one. */
export const codec = instantiateCodec(wasm);

/** The requests of the isolate, to which jobs give way. */
export const traffic = new Traffic();
