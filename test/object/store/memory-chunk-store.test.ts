import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { describeChunkStore } from "./chunk-store-contract.ts";

describeChunkStore("memory", () => ({ store: new MemoryChunkStore(), prefix: "r/" }));
