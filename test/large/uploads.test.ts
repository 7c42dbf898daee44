/** A history above every limit of a push comes in by the remote helper: whole, within the memory of
 * a push, while the repository answers others. Beside a push of the same to git's own server. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProblems } from "../harness/find-problems.ts";
import { git, listRefs } from "../harness/git.ts";
import { startNative } from "../harness/native.ts";
import { keepApart, tryHelper } from "../harness/remote-helper.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { askMeanwhile, describeWaits } from "./ask-meanwhile.ts";
import { importCommit, importFile, importRepository } from "./round-trip.ts";

const COMMITS = 1_250_000;
const MEMORY_LIMIT_BYTES = 64 * 1024 * 1024;

/** How long a client may wait for the refs while steps are indexed. */
const ANSWER_MS = 100;

test(`${COMMITS * 4} objects, pushed in steps`, async () => {
  const commits = Array.from(
    { length: COMMITS },
    (_, i) => importCommit(i) + importFile(`dir-${i % 50}/file-${i % 1000}`, `line ${i}`),
  );
  const origin = await importRepository(commits);
  await git(origin, "repack", "-adq");
  const root = makeTempDir("native");
  await git(root, "init", "-q", "--bare", "large.git");
  const native = await startNative(root);
  const nativeMs = await measure(() => git(origin, "push", "-q", "--mirror", `${native.url}/large.git`));
  await native.close();
  const server = await startServer();
  try {
    const url = `${server.url}/me/large`;
    // Those who ask find the repository there.
    await git(origin, "push", "-q", url, `main~${COMMITS - 1}:refs/heads/main`);
    const env = keepApart(server);
    const asking = askMeanwhile(url, 50);
    const pushMs = await measure(async () => {
      const { code, stderr } = await tryHelper(origin, ["push", "--mirror", `holdfast::${url}`], {}, { env });
      expect(code, stderr).toBe(0);
    });
    const asked = await asking.end();
    const { steps, peakBytes, indexMs, applyMs } = sumSteps(server);
    const figures = {
      steps,
      "ms (git's)": `${pushMs} (${nativeMs})`,
      "index, apply ms": `${indexMs}, ${applyMs}`,
      "peak MB of a step": Math.round(peakBytes / 1e6),
      "workerd's RSS MB": Math.round(server.readUsage().peakMemoryBytes / 1e6),
      "ms for others: median, 99 %, most": describeWaits(asked),
    };
    console.log(JSON.stringify(figures, null, 2));
    expect(steps).toBeGreaterThan(3);
    expect(peakBytes).toBeLessThanOrEqual(MEMORY_LIMIT_BYTES);
    const mirror = join(makeTempDir("clone"), "clone.git");
    await git(origin, "clone", "-q", "--mirror", url, mirror);
    expect(await listRefs(mirror)).toBe(await listRefs(origin));
    expect(await git(mirror, "fsck", "--full")).toBe("");
    const count = (dir: string): Promise<string> => git(dir, "rev-list", "--objects", "--all", "--count");
    expect(await count(mirror)).toBe(await count(origin));
    expect(await findProblems(url)).toEqual([]);
    expect(Math.max(...asked.map(({ ms }) => ms))).toBeLessThan(ANSWER_MS);
  } finally {
    await server.close();
  }
}, 3_600_000);

function sumSteps(server: Server): { steps: number; peakBytes: number; indexMs: number; applyMs: number } {
  const costs = server
    .takeEvents()
    .flatMap((event) => (event.event === "call" && event.name === "indexStep" ? (event.pushes ?? []) : []));
  return {
    steps: costs.length,
    peakBytes: Math.max(...costs.map(({ peakBytes }) => peakBytes)),
    indexMs: costs.reduce((sum, { indexMs }) => sum + indexMs, 0),
    applyMs: costs.reduce((sum, { applyMs }) => sum + applyMs, 0),
  };
}

async function measure(act: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await act();
  return Math.round(performance.now() - startMs);
}
