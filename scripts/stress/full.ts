import { defineLoad } from "./load.ts";

/** Seven minutes. */
export default defineLoad([100, 1000, 5000, 10_000], [], { clients: 8, rounds: 2, requests: 25 });
