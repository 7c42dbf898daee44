import { MemoryChunkStore } from "../../src/store/memory-chunk-store.ts";
import { describeChunkStore } from "./chunk-store-contract.ts";

describeChunkStore("memory", () => ({ store: new MemoryChunkStore(), prefix: "r/" }));
