/** `scripts/bench/codec`: indexing, inflate, deflate and SHA-1 inside workerd, by Holdfast and by others. */
import { measureCodecs, startCodecs } from "./cases/codec.ts";
import { COMMON_OPTIONS, SPREAD, readCount, runCommand } from "./figures/command.ts";
import { formatSides } from "./figures/table.ts";
import { measureAll } from "./run-benchmark.ts";
import { makeCorpora } from "./work/corpora.ts";
import { makeSubject, openSubject } from "./work/subjects.ts";

const USAGE = `Usage: scripts/bench/codec [OPTIONS]

Measures what Holdfast's WebAssembly module does, inside workerd, beside what else could do it there, in turns. Everything that
comes out is checked each time.

  index    a whole pack, beside isomorphic-git and git index-pack --threads=1 (native, with its process's start); MB are the pack's
  inflate  one zlib stream after the other, beside node:zlib and pako; MB are what comes out
  deflate  the same back, level 6; MB are what goes in
  SHA-1    ids of objects, beside node:crypto and @noble/hashes

on ct (commits and trees), blob, noise (8 KB of base64 each), and entries (the pack).

Git has no command that does one of the others alone: node:zlib and node:crypto are the C libraries that come with workerd. Ratio is of the
medians of ms, over native where there is native, else over those two.

${SPREAD}

  --bundle FILE  a bundle or repository to take objects from (default: a made-up history)
  --most-mb N    of ct, blob and noise each (default 8)
  --rounds N     recorded rounds, after one to warm up (default 5)
${COMMON_OPTIONS}`;

await runCommand({
  usage: USAGE,
  options: {
    bundle: { type: "string" },
    "most-mb": { type: "string", default: "8" },
    rounds: { type: "string", default: "5" },
  },
  format: (samples) => formatSides(samples, "ms", ["native", "node:zlib", "node:crypto"]),
  async measure({ bundle, "most-mb": most, rounds }, stack) {
    const mostBytes = readCount("most-mb", most) * 1e6;
    const count = readCount("rounds", rounds);
    const subject = bundle === undefined ? await makeSubject() : await openSubject(bundle);
    const corpora = await makeCorpora(subject, mostBytes);
    const url = await startCodecs(stack);
    return measureAll(
      corpora.map((corpus) => [`${corpus.work} of ${corpus.name}`, () => measureCodecs(corpus, count, url)]),
    );
  },
});
