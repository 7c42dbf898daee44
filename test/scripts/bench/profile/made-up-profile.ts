import type { CpuProfile } from "../../../../scripts/bench/profile/cpu-profile.ts";

/** A profile with one sample each millisecond.
 * @param parents for each function, the number of the one that calls it; null is the root's
 * @param samples numbers of functions */
export function makeProfile(
  functions: readonly (readonly [name: string, url: string, parent: number | null])[],
  samples: readonly number[],
): CpuProfile {
  const frame = (functionName: string, url: string) => ({
    functionName,
    url,
    scriptId: "1",
    lineNumber: url === "" ? -1 : 9,
    columnNumber: 0,
  });
  const childrenOf = (parent: number | null): number[] =>
    functions.flatMap(([, , one], number) => (one === parent ? [number + 2] : []));
  return {
    nodes: [
      { id: 1, callFrame: frame("(root)", ""), children: childrenOf(null) },
      ...functions.map(([name, url], number) => ({
        id: number + 2,
        callFrame: frame(name, url),
        children: childrenOf(number),
      })),
    ],
    startTime: 5_000,
    endTime: 5_000 + samples.length * 1_000,
    samples: samples.map((number) => number + 2),
    timeDeltas: samples.map((_, i) => (i === 0 ? 0 : 1_000)),
  };
}

/** A push that is applied, once called by itself, beside the runtime's and the collector's time,
 * and some that is idle. */
export const PUSH = makeProfile(
  [
    ["take", "src/object/push/receive-pack.ts", null],
    ["store", "src/object/push/apply-push.ts", 0],
    ["exec", "", 1],
    ["store", "src/object/push/apply-push.ts", 1],
    ['inflate<Map & "Set">', "wasm://wasm/0a1b", 3],
    ["(garbage collector)", "", null],
    ["(idle)", "", null],
  ],
  [0, 1, 2, 2, 3, 4, 4, 4, 5, 6, 6],
);
