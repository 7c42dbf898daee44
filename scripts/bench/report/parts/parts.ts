/** Everything that the page shows. */
import { CODEC } from "./codec.ts";
import { CORE } from "./core.ts";
import { FETCH } from "./fetch.ts";
import type { Part } from "./part.ts";
import { QUICK } from "./quick.ts";
import { REST } from "./rest.ts";
import { STORE } from "./store.ts";
import { STORM } from "./storm.ts";

/** In the order in which they are measured and told. */
export const PARTS: readonly Part[] = [QUICK, CORE, FETCH, STORM, STORE, CODEC, REST];
