/** Calls every route of the API with valid and invalid values made from its own document. */
import { fuzzApi, listUntried } from "../../test/harness/fuzzed-api.ts";
import { count, defineCheck, SERVER } from "./check.ts";

export default defineCheck({
  text: `Makes requests from the schemas in the server's /api/openapi.json, with valid, invalid and
hostile values. No answer may be a 5xx, have a status that is not described, or a body outside its
schema. Makes the repository me/fuzzed on the server.`,
  options: { rounds: count(300, "requests of each route"), seed: count(1, "of the values"), server: SERVER },
  async run(run, { rounds, seed, server }) {
    const result = await fuzzApi(await run.openServer(server, { owner: "me" }), seed, rounds);
    for (const [route, statuses] of result.statuses) {
      const shown = [...statuses].toSorted(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
      process.stdout.write(`${route.padEnd(60)} ${shown.join(", ")}\n`);
      for (const times of statuses.values()) run.tally.count("requests", times);
    }
    for (const { request, status, reason } of result.violations) run.tally.wrong(`${request}: ${status}: ${reason}`);
    for (const route of listUntried(result)) run.tally.wrong(`${route} never succeeded`);
  },
});
