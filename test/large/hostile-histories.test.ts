// A thousand random histories of up to 2 MB that git accepts although nobody would write them: odd
// seeds have odd shapes, even ones a field that is far too long or occurs far too often.
// HOSTILE_SEED=N runs only that one, HOSTILE_SEED=N-M those from N to M, HOSTILE_SEED=N,M-O both,
// and HOSTILE_RUNS=N another number of them.
import { expect, test } from "vitest";
import { makeHostileFields } from "../harness/hostile-fields.ts";
import { makeHostileHistory } from "../harness/hostile-history.ts";
import { type Cost, HostileRun, type Misanswer } from "../harness/hostile-run.ts";
import { Random } from "../harness/random.ts";

const seeds = readSeeds(process.env["HOSTILE_SEED"] ?? `1-${process.env["HOSTILE_RUNS"] ?? 1_000}`);

/** Histories for one server: what it keeps in memory must not grow with their number. */
const PER_SERVER = 100;

test("whatever is asked of hostile histories is answered in its bounds", async () => {
  // All failures are reported at the end, each with the seed that reproduces it.
  const misanswers: Misanswer[] = [];
  const dearest: Cost[] = [];
  for (let from = 0; from < seeds.length; from += PER_SERVER) {
    const run = await HostileRun.open();
    try {
      for (const seed of seeds.slice(from, from + PER_SERVER)) {
        const make = seed % 2 === 0 ? makeHostileFields : makeHostileHistory;
        await run.run(seed, make(new Random(seed)));
        for (const misanswer of run.misanswers.splice(0)) {
          console.log(toLine(misanswer));
          misanswers.push(misanswer);
        }
      }
      dearest.push(run.slowest!, run.largest!);
    } finally {
      await run.close();
    }
  }
  const slowest = dearest.reduce((a, b) => (a.seconds > b.seconds ? a : b));
  const largest = dearest.reduce((a, b) => (a.bytes > b.bytes ? a : b));
  console.log(`${seeds.length} histories; slowest: ${toText(slowest)}; most memory: ${toText(largest)}`);
  expect(misanswers.map(toLine)).toEqual([]);
}, 14_400_000);

function readSeeds(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number) as [number, number?];
    return Array.from({ length: last! - first + 1 }, (_, i) => first + i);
  });
}

function toLine({ seed, shape, request, reason }: Misanswer): string {
  return `seed ${seed} (${shape}): ${request.slice(0, 200)}: ${reason}`;
}

function toText({ seed, request, seconds, bytes }: Cost): string {
  return `seed ${seed}, ${request.slice(0, 200)}, ${seconds.toFixed(2)} s, ${Math.round(bytes / 2 ** 20)} MiB`;
}
