/** `npm run bench:operations`: what the platform bills for each kind of work, counted. */
import { COMMON_OPTIONS, readCount, readCounts, runCommand } from "./figures/command.ts";
import type { Sample } from "./figures/sample.ts";
import type { At } from "./operations/count.ts";
import { startMeteredServer } from "./operations/metered-server.ts";
import { countLife, type CountedSubject, countOwner } from "./operations/scenarios.ts";
import { makeLongHistory, makeNoise, makeSubject, type Subject } from "./work/subjects.ts";

const USAGE = `Usage: npm run bench:operations -- [OPTIONS]

Goes through the life of repositories (pushes, clones, fetches, commits and reads by the API, the housekeeping that they cause
later, deletion) against the Worker with a meter at each door that the platform bills: requests, calls of objects, alarms, time
that objects are active, rows of SQLite, operations of R2, bytes stored. Values are sums over as many times as the column
\`times\` says; \`after\` is what happens by itself afterwards, on a clock that is set forward. Access is by token, git has it in
its URL, and where nothing else is said, objects have left memory before each time.

The tables of docs/cost.md and docs/scaling.md are made of docs/performance/operations.csv by npm run bench:costs.

Counts are the same each time, but for clones at once, whose work is shared as they happen to come. Milliseconds are of this
machine.

  --only NAME     noise, history, long or owner (of many repositories); may be repeated (default: all)
  --files N,N     files of ~8 KB in repositories of one commit (default 100,1000,5000)
  --commits N     commits in the long history (default 20000)
  --pushes N      small pushes, and as many commits through the API (default 256: a whole cycle of housekeeping)
  --owned N       repositories of the owner of many (default 500)
  --rounds N      how often all of this is done (default 1)
${COMMON_OPTIONS}`;

/** Files in a made-up history, and in a long one. */
const HISTORY_FILES = 300;
const LONG_HISTORY_FILES = 40;

/** Small pushes to the long history. */
const LONG_HISTORY_PUSHES = 16;

/** Counts one kind of repository. */
type Run = (at: At) => Promise<Sample[]>;

const NAMES = ["noise", "history", "long", "owner"];

await runCommand({
  usage: USAGE,
  options: {
    only: { type: "string", multiple: true, default: NAMES },
    files: { type: "string", default: "100,1000,5000" },
    commits: { type: "string", default: "20000" },
    pushes: { type: "string", default: "256" },
    owned: { type: "string", default: "500" },
    rounds: { type: "string", default: "1" },
  },
  async measure(values, stack) {
    const pushes = readCount("pushes", values.pushes);
    const commits = readCount("commits", values.commits);
    const owned = readCount("owned", values.owned);
    const unknown = values.only.find((name) => !NAMES.includes(name));
    if (unknown !== undefined) throw new Error(`--only ${unknown}: there are ${NAMES.join(", ")}`);
    const life = (make: () => Promise<Subject>, counted: Omit<CountedSubject, "subject">): Run => {
      return async (at) => countLife({ subject: await make(), ...counted }, at);
    };
    const ofNoise = (files: number): Run =>
      life(() => makeNoise(files), { repository: "noise", files, pushes, isWhole: true });
    const history = { repository: "history", files: HISTORY_FILES, pushes, isWhole: true };
    const long = { repository: "long history", files: LONG_HISTORY_FILES, pushes: LONG_HISTORY_PUSHES, isWhole: false };
    const runs: Readonly<Record<string, readonly Run[]>> = {
      noise: readCounts("files", values.files).map(ofNoise),
      history: [life(makeSubject, history)],
      long: [life(() => makeLongHistory(commits), long)],
      owner: [(at) => countOwner(owned, at)],
    };
    const server = await startMeteredServer();
    stack.defer(() => server.close());
    const samples: Sample[] = [];
    for (let round = 1; round <= readCount("rounds", values.rounds); round++) {
      for (const name of values.only) {
        for (const run of runs[name]!) samples.push(...(await run({ server, round })));
      }
    }
    return { samples, hasFailed: false };
  },
});
