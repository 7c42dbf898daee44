// What an isolate has once, for all objects in it, and for the Worker where it shares their isolate, as the local runtime has it.
import wasm from "../codec/holdfast.wasm";
import { instantiateCodec } from "../codec/codec.ts";
import { Traffic } from "../repository/pacing/traffic.ts";

/** Its calls are synchronous: no two requests are ever in it. */
export const codec = instantiateCodec(wasm);

/** What jobs make way for. */
export const traffic = new Traffic();
