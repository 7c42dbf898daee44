/** What the platform bills for each kind of work. */
import { startMeteredServer } from "../../../test/harness/metered/server.ts";
import { count, counts, parts, text } from "../../options.ts";
import { defineCase } from "../figures/bench.ts";
import { readSamples } from "../figures/sample.ts";
import { makeLongHistory, makeNoise } from "../../../test/harness/fast-import.ts";
import { makeSubject } from "../work/subjects.ts";
import { countLife, countOwner } from "./scenarios.ts";
import { formatOperations } from "./tables.ts";

/** Files in a generated history, and in a long one. */
const HISTORY_FILES = 300;
const LONG_HISTORY_FILES = 40;

/** Small pushes to the long history. */
const LONG_HISTORY_PUSHES = 16;

export const operations = defineCase({
  summary: "what the platform would bill for each kind of work, by counts and list prices",
  about: `Runs the life of repositories (pushes, clones, fetches, commits and reads by the API, the later
maintenance, deletion) against the Worker with a meter for all that the platform bills: requests,
calls of objects, alarms, active time of objects, rows of SQLite, operations of R2, stored bytes.
Later work is counted with the clock set forward. Access is by token, which git has in its URL.
Unless stated otherwise, objects have left memory before each time. Prices are in
scripts/bench/operations/prices.ts.

Counts are the same in each run, except for simultaneous clones, which share work depending on their
timing. Milliseconds are those of this machine.`,
  options: {
    only: parts(["noise", "history", "long", "owner"]),
    files: counts("files of 8 KB in repositories of one commit", [100, 1000, 5000]),
    commits: count("commits in the long history", 20_000),
    pushes: count("small pushes, and as many commits by the API; 256 are a cycle of maintenance", 256),
    owned: count("repositories of the owner with many", 500),
    rounds: count("how often all of this is done", 1),
    from: text("FILE", "makes the tables from an earlier run, whose --csv FILE was, and counts nothing"),
  },
  format: formatOperations,
  async measure({ only, files, commits, pushes, owned, rounds, from }, bench) {
    if (from !== undefined) {
      bench.samples.push(...readSamples(from));
      return;
    }
    const server = await startMeteredServer();
    bench.stack.defer(() => server.close());
    for (let round = 1; round <= rounds; round++) {
      const at = { server, bench, round };
      const whole = { pushes, isWhole: true };
      if (only.includes("noise"))
        for (const size of files)
          await countLife({ ...whole, subject: await makeNoise(size), repository: "noise", files: size }, at);
      if (only.includes("history"))
        await countLife({ ...whole, subject: await makeSubject(), repository: "history", files: HISTORY_FILES }, at);
      if (only.includes("long")) {
        const long = { repository: "long history", files: LONG_HISTORY_FILES, pushes: LONG_HISTORY_PUSHES };
        await countLife({ ...long, subject: await makeLongHistory(commits), isWhole: false }, at);
      }
      if (only.includes("owner")) await countOwner(owned, at);
    }
  },
});
