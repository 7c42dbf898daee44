/** `scripts/bench.sh` and `scripts/stress.sh`: load with nothing but bash, git and curl. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { PROJECT } from "../harness/build.ts";
import { startFrontProxy } from "../harness/front-proxy.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const TOKEN = "admin-token-of-the-test-server";

/** Of `stress.sh quick`. */
const WRITERS = 8;

let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: TOKEN } });
});
afterAll(() => server.close());

interface Run {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(script: string, args: readonly string[], token: string | null = null): Promise<Run> {
  const { HOLDFAST_TOKEN: _, ...rest } = process.env;
  const env = token === null ? rest : { ...rest, HOLDFAST_TOKEN: token };
  return new Promise((resolve) => {
    execFile("bash", [join(PROJECT, "scripts", script), ...args], { env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

function ask<T>(path: string, init: RequestInit = {}): Promise<{ body: T }> {
  return askApi<T>(server, path, { ...init, headers: { authorization: `Bearer ${TOKEN}` } });
}

async function namesOf(owner: string): Promise<unknown> {
  const { body } = await ask<{ repositories: unknown[] }>(`/repos/${owner}`);
  return body.repositories;
}

test("bench.sh measures a deployed server with a token, and leaves nothing there", async () => {
  const csv = join(makeTempDir("bench"), "times.csv");
  const { status, stdout, stderr } = await run("bench.sh", [server.url, "--sizes", "3,20", "--csv", csv], TOKEN);
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/^ms, by files +3 +20\npush +\d+ +\d+\nclone +\d+ +\d+\nincremental push +\d+ +\d+\n/);
  expect(stdout).toMatch(/\ncontributors +\d+ +\d+\n20 shallow clones +- +\d+\n$/);
  const rows = readFileSync(csv, "utf8").trimEnd().split("\n");
  expect(rows[0]).toBe("files,operation,ms");
  expect(rows.slice(1)).toEqual(rows.slice(1).filter((row) => /^(3|20),[\w ]+,\d+$/.test(row)));
  expect(await namesOf("bench")).toEqual([]);
});

test("stress.sh starts a server where no URL is given", async () => {
  const { status, stdout, stderr } = await run("stress.sh", ["quick", "--sizes", "20"]);
  expect(status, stderr + stdout).toBe(0);
  expect(stdout).toMatch(/\n20( +\d+){6}\n0 wrong\n$/);
});

test("stress.sh tells when a push that was acknowledged is lost", async () => {
  // Deletes a branch once every writer has pushed to a branch of its own.
  const front = await startFrontProxy(server.url);
  let pushes = 0;
  front.cutAnswer = ({ path }) => {
    const name = /\/stress\/([^/]+)\.git\/git-receive-pack/.exec(path)?.[1];
    if (name !== undefined && ++pushes > 2 + WRITERS)
      void ask(`/repos/stress/${name}/branches/round-1-0`, { method: "DELETE" });
    return false;
  };
  try {
    const { status, stdout } = await run("stress.sh", [front.url, "--sizes", "20"], TOKEN);
    expect(stdout).toContain("wrong: 20 files: the branch of writer 0 is lost");
    expect(status).toBe(1);
  } finally {
    await front.close();
  }
});

test.each([
  ["bench.sh", ["--sizes", "none"], "--sizes none: not numbers of files, as 100,1000"],
  ["bench.sh", ["nothing"], "nothing is neither a URL nor an option; --help lists them"],
  ["stress.sh", ["slow"], "slow is not quick or full; --help tells more"],
  ["stress.sh", ["--fast"], "--fast is no option; --help lists them"],
  ["bench.sh", ["http://127.0.0.1:9"], "http://127.0.0.1:9 cannot be used: "],
])("%s %j is told in one line, with status 2", async (script, args, line) => {
  const { status, stdout, stderr } = await run(script, args);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(new RegExp(`^${script}: ${RegExp.escape(line)}.*\n$`));
});

test("a server that needs a token says so", async () => {
  const { status, stderr } = await run("bench.sh", [server.url]);
  expect(status).toBe(2);
  expect(stderr).toContain('Set HOLDFAST_TOKEN to a token that may administer all that "bench" owns.');
});

test.each(["bench.sh", "stress.sh"])("%s --help lists its options", async (script) => {
  const { status, stdout } = await run(script, ["--help"]);
  expect(status).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Usage: scripts/${script} [^]* --csv FILE `));
});
