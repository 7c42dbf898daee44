import { defineLoad } from "./load.ts";

/** Under two minutes. */
export default defineLoad([100, 1000], [5000], { clients: 4, rounds: 1, requests: 15 });
