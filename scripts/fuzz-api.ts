/** Asks every route of the API for what its own document inspires, right and wrong, and checks the answers against it. */
import { readCommandLine } from "./command-line.ts";
import { fuzzApi, listUntried } from "../test/harness/fuzzed-api.ts";
import { startServer } from "../test/harness/server.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/fuzz-api.ts [OPTIONS] [URL]

Makes requests of the schemas in the server's /api/openapi.json: values that fit, and values that do not, hostile ones among them. No
answer may be a 5xx, have a status that is not described, or a body outside its schema. Ends with 1 if one is.

URL is that of a Holdfast server, such as http://localhost:8787; it gets the repository me/fuzzed. Without it, a server is started
for the check alone.

  --rounds N  how often each route is asked (default 300)
  --seed N    of the values (default 1)
  --help      this text
`;

const { values, positionals } = readCommandLine({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  process.stdout.write(USAGE);
} else {
  const started = positionals[0] === undefined ? await startServer() : null;
  try {
    const result = await fuzzApi({ url: positionals[0] ?? started!.url }, Number(values.seed), Number(values.rounds));
    for (const [route, counts] of result.statuses) {
      const shown = [...counts].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
      process.stdout.write(`${route.padEnd(60)} ${shown.join(", ")}\n`);
    }
    for (const { request, status, reason } of result.violations) {
      process.stdout.write(`\n${request}\n  ${status}: ${reason}\n`);
    }
    const untried = listUntried(result);
    if (untried.length > 0) process.stdout.write(`\nnever answered well: ${untried.join(", ")}\n`);
    process.stdout.write(`\n${result.violations.length} violations\n`);
    process.exitCode = result.violations.length + untried.length === 0 ? 0 : 1;
  } finally {
    await started?.close();
  }
}
