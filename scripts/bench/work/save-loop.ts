/** Writers who save one file after the other, at the same time. */
import type { Measures, Sample } from "../figures/sample.ts";
import { toSamples, type Work } from "../figures/sample.ts";
import { measureCost } from "../hosts/cost.ts";
import { EventWatch, type Happening } from "../hosts/event-watch.ts";
import type { Host } from "../hosts/host.ts";
import { allOf } from "./all-of.ts";
import { type Edit, type EditKind, EDITS } from "./edit.ts";
import type { Ledger } from "./ledger.ts";
import { findSpikes, type Spike, type TimedSave } from "./spikes.ts";
import type { Saved, Writer } from "./writer.ts";

/** How the files are distributed and who saves. */
export interface Shape {
  readonly writers: number;
  readonly repositories: number;
  readonly branches: number;
  /** Of each repository, at the beginning. */
  readonly files: number;
}

/** One way to save, at one host. */
export interface Lane {
  readonly by: "git" | "api";
  readonly side: "native" | "holdfast";
  readonly host: Host;
  /** For each writer of the shape, those they are in each repository that they save to, in turn. */
  readonly writers: readonly (readonly Writer[])[];
}

/** A loop. */
export interface LoopPlan {
  /** What its samples call it. */
  readonly phase: string;
  readonly edits: EditKind;
  readonly shape: Shape;
  readonly perFolder: number;
  /** Saves by git in all rounds together, at least; the writers share them out evenly. */
  readonly samples: number;
  readonly rounds: number;
  /** Saves of each writer before the first round. */
  readonly warmUp: number;
  /** How long Holdfast is left alone after a round's last save, so that the jobs which saves leave have begun when its CPU is read. */
  readonly restMs: number;
  /** Whether writers meet: merges, conflicts and retries are figures then. */
  readonly isContended: boolean;
}

/** By the API so many saves take no longer than one by git, and their percentiles need them. Where writers meet, equally many do. */
const API_SAVES = 10;

/** Spikes of each loop that are looked into. */
const SPIKES = 5;

/** A loop, and the ways to save that it compares. */
export interface Loop {
  readonly plan: LoopPlan;
  readonly lanes: readonly Lane[];
}

/** Runs loops round by round, so that the rounds of each meet many minutes of the machine; and the lanes of each in turns, so that they
 * meet the same one.
 * @param loops with as many rounds each */
export async function measureLoops(
  loops: readonly Loop[],
  ledger: Ledger,
): Promise<{ samples: Sample[]; spikes: Spike[] }> {
  const rounds = loops[0]!.plan.rounds;
  const blocks: Block[] = [];
  for (let round = 0; round <= rounds; round++) {
    for (const { plan, lanes } of loops) {
      process.stderr.write(`${nameLoop(plan)}, ${round === 0 ? "warm-up" : `round ${round} of ${rounds}`}\n`);
      const savesByGit = Math.max(1, Math.ceil(plan.samples / rounds / plan.shape.writers));
      for (const lane of lanes) {
        for (const writer of lane.writers.flat()) await writer.catchUp();
        const savesEach = lane.by === "api" && !plan.isContended ? API_SAVES * savesByGit : savesByGit;
        if (round > 0) blocks.push(await runBlock(plan, { lane, round, savesEach }, ledger));
        else await saveAll(plan, lane, plan.warmUp, ledger);
      }
    }
  }
  const told = Map.groupBy(
    blocks.filter(({ isTold }) => isTold),
    ({ name }) => name,
  );
  const spikes = [...told].flatMap(([name, its]) =>
    findSpikes(
      name,
      its.flatMap(({ saves }) => saves),
      its.flatMap(({ happenings }) => happenings),
      SPIKES,
    ),
  );
  return { samples: blocks.flatMap(({ samples }) => samples), spikes };
}

function nameLoop({ phase, shape: { writers, files } }: LoopPlan): string {
  return `${phase}, ${writers} writers, ${files} files`;
}

/** The saves of one lane in one round. */
interface Block {
  /** Of the loop, and of the way to save. */
  readonly name: string;
  readonly samples: Sample[];
  readonly saves: readonly TimedSave[];
  readonly happenings: readonly Happening[];
  /** Whether the server told of events, so that it can be known why a save took long. */
  readonly isTold: boolean;
}

async function runBlock(
  plan: LoopPlan,
  { lane, round, savesEach }: { readonly lane: Lane; readonly round: number; readonly savesEach: number },
  ledger: Ledger,
): Promise<Block> {
  const { by, side, host } = lane;
  const watch = new EventWatch(host);
  let saves: LoopSave[] = [];
  const work = async (): Promise<void> => {
    saves = await saveAll(plan, lane, savesEach, ledger);
  };
  const { wallSeconds, cpuSeconds } = await measureCost(host, work, { delayMs: side === "native" ? 0 : plan.restMs });
  watch.stop();
  const workOf = (step: string): Work => ({ phase: plan.phase, by, step, ...plan.shape });
  const count = saves.length;
  const sum = (of: (saved: Saved) => number): number => saves.reduce((total, { saved }) => total + of(saved), 0);
  const ofBlock: Measures = {
    "saves/s": count / wallSeconds,
    "server CPU ms": (cpuSeconds * 1000) / count,
    ...measureEvents(watch, count),
    ...(plan.isContended && {
      "merges per save": sum(({ merges }) => merges) / count,
      "conflicts per save": sum(({ conflicts }) => conflicts) / count,
      "retries per save": sum(({ retries }) => retries) / count,
    }),
  };
  const samples = saves.flatMap(({ saved }) =>
    Object.entries(saved.steps).flatMap(([step, ms]) => toSamples(workOf(step), side, round, { ms })),
  );
  samples.push(...toSamples(workOf(by === "git" ? "total" : "save"), side, round, ofBlock));
  const name = `${nameLoop(plan)}, by ${by}`;
  return { name, samples, saves, happenings: watch.happenings, isTold: watch.events.length > 0 };
}

/** What the server told of a block, for each save: its own part, and what jobs did behind it. */
function measureEvents({ events }: EventWatch, count: number): Measures {
  const pushes = events.flatMap((event) => {
    if (event.event === "push") return [event];
    return event.event === "call" ? (event.pushes ?? []) : [];
  });
  const jobs = events.filter((event) => event.event === "job");
  if (pushes.length === 0) return {};
  const mean = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0) / count;
  const operations = (done: (typeof pushes | typeof jobs)[number]): number => {
    const { puts, parts, gets } = done.operations;
    return puts + parts + gets;
  };
  return {
    "indexing ms": mean(pushes.map(({ indexMs }) => indexMs)),
    "settling ms": mean(pushes.map(({ applyMs }) => applyMs)),
    "pack KB": mean(pushes.map(({ packBytes }) => packBytes)) / 1000,
    "R2 operations": mean(pushes.map(operations)),
    "R2 operations of jobs": mean(jobs.map(operations)),
  };
}

/** A save of a loop. */
interface LoopSave extends TimedSave {
  readonly saved: Saved;
}

/** Has every writer save so many times. */
async function saveAll(plan: LoopPlan, lane: Lane, savesEach: number, ledger: Ledger): Promise<LoopSave[]> {
  const { writers, files } = plan.shape;
  const saves: LoopSave[] = [];
  const write = async (places: readonly Writer[], writer: number): Promise<void> => {
    for (let turn = 0; turn < savesEach; turn++) {
      const number = ledger.nextNumber();
      const at = places[turn % places.length]!;
      const edit: Edit = EDITS[plan.edits]({ number, writer, writers, files, perFolder: plan.perFolder });
      const startMs = performance.now();
      const saved = await at.save(edit);
      saves.push({ startMs, endMs: performance.now(), saved });
      ledger.note(at.url, at.branch, edit);
    }
  };
  await allOf(lane.writers.map(write));
  return saves;
}
