import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MaintenanceStatus } from "../../src/contract/upkeep.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git } from "../harness/git.ts";
import { startServer } from "../harness/server.ts";
import { testSome } from "../harness/sweep.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { type Contents, describeRepository, REPOSITORY } from "./contents.ts";

/** The newest first. */
const FOLDERS = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted((a, b) => versionOf(b) - versionOf(a));

test("there are data folders of earlier versions", () => {
  expect(FOLDERS).toEqual(expect.arrayContaining(["schema-3", "schema-13", "schema-14", "schema-15", "schema-16"]));
});

testSome(1, FOLDERS, "%s: a data folder of that version is opened, whole, and goes on", async (name) => {
  const folder = join(import.meta.dirname, name);
  const contents = JSON.parse(readFileSync(join(folder, "contents.json"), "utf8")) as Contents;
  const persistDir = makeTempDir("data");
  cpSync(join(folder, "data"), persistDir, { recursive: true });
  const server = await startServer({ persistDir });
  try {
    const remote = `${server.url}/${REPOSITORY}.git`;
    expect(await describeRepository(remote)).toEqual(contents);
    expect(await findProblems(remote)).toEqual([]);
    // Made for what an earlier version stored, without a push.
    const maintenance = `${server.url}/api/repos/${REPOSITORY}/maintenance`;
    const countFiltered = async () =>
      ((await (await fetch(maintenance)).json()) as MaintenanceStatus).lastRuns.filter?.["commits"];
    await expect.poll(countFiltered, { interval: 200 }).toBeGreaterThan(0);
    const dir = makeTempDir("clone");
    await git(dir, "clone", "--quiet", remote, ".");
    writeFileSync(join(dir, "new.txt"), "new");
    await git(dir, "add", ".");
    await git(dir, "commit", "--quiet", "-m", "go on");
    await git(dir, "push", remote, "main", ":side-0");
    await fetch(maintenance, { method: "POST" });
    const after = await describeRepository(remote);
    expect(after.refs).toContain(`${(await git(dir, "rev-parse", "HEAD")).trim()}\trefs/heads/main`);
    expect(await findProblems(remote)).toEqual([]);
    // Once more from disk, as the new version left it.
    await server.restart();
    expect(await describeRepository(remote)).toEqual(after);
  } finally {
    await server.close();
  }
});

/** Of the schema in a folder. */
function versionOf(name: string): number {
  return Number(name.replace("schema-", ""));
}
