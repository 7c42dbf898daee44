/** Feeds random inputs to a parser, from a seed. */
import { type GitErrorCode, isGitError } from "../../src/base/format/errors.ts";
import { Random } from "../harness/random.ts";

/** Milliseconds that one input may take: far above what any takes on a busy machine, far below a
 * hang. */
const MAX_INPUT_MS = 5_000;

/** Bytes that the process may grow by in a run. */
const MAX_GROWTH_BYTES = 512 * 1024 * 1024;

/** Rounds between two checks of memory. */
const MEMORY_EVERY = 500;

/** A parser, and what must hold for every input. */
export interface FuzzTarget {
  readonly name: string;
  /** The errors that it may throw. */
  readonly codes: readonly GitErrorCode[];
  /** The same random numbers make the same input. */
  make(random: Random): Uint8Array;
  /** Parses.
   * @param random for choices besides the input, such as the sizes of its pieces
   * @throws GitError of the codes above, any other error when a property does not hold */
  run(input: Uint8Array, random: Random): void | Promise<void>;
}

/** An input for which a property does not hold. */
export interface FuzzFinding {
  readonly target: string;
  /** Reproduces it: see `repeatRound`. */
  readonly seed: number;
  readonly round: number;
  readonly input: Uint8Array;
  readonly reason: string;
}

/** The result of a run. */
export interface FuzzRun {
  readonly rounds: number;
  /** Rounds whose input was accepted: a parser that refuses everything was not tested. */
  readonly taken: number;
  readonly slowestMs: number;
  readonly findings: FuzzFinding[];
}

/** The input of one round, and what is wrong with it; null: nothing. */
export async function repeatRound(
  target: FuzzTarget,
  seed: number,
  round: number,
): Promise<{ input: Uint8Array; isTaken: boolean; tookMs: number; reason: string | null }> {
  const random = new Random(Math.imul(seed, 0x9e37_79b1) ^ Math.imul(round + 1, 0x85eb_ca6b));
  const input = new Uint8Array(target.make(random));
  const startMs = performance.now();
  let isTaken = false;
  let reason: string | null = null;
  try {
    await target.run(input, random);
    isTaken = true;
  } catch (error) {
    if (!isGitError(error) || !target.codes.includes(error.code)) {
      reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
  }
  const tookMs = performance.now() - startMs;
  if (tookMs > MAX_INPUT_MS) reason ??= `it took ${Math.round(tookMs)} ms`;
  return { input, isTaken, tookMs, reason };
}

/** Feeds one input after the other to a target.
 * @param isOver called between rounds with their number; ten findings end the run too */
export async function fuzz(target: FuzzTarget, seed: number, isOver: (rounds: number) => boolean): Promise<FuzzRun> {
  const findings: FuzzFinding[] = [];
  const startBytes = process.memoryUsage.rss();
  let [rounds, taken, slowestMs] = [0, 0, 0];
  for (; findings.length < 10 && !isOver(rounds); rounds++) {
    const { input, isTaken, tookMs, reason } = await repeatRound(target, seed, rounds);
    const note = (what: string) => findings.push({ target: target.name, seed, round: rounds, input, reason: what });
    if (isTaken) taken++;
    slowestMs = Math.max(slowestMs, tookMs);
    if (reason !== null) note(reason);
    if (rounds % MEMORY_EVERY !== 0) continue;
    const grownBytes = process.memoryUsage.rss() - startBytes;
    if (grownBytes > MAX_GROWTH_BYTES) {
      note(`the process has grown by ${grownBytes} bytes`);
      break;
    }
  }
  return { rounds, taken, slowestMs, findings };
}
