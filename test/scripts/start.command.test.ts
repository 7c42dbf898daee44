import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { DECLARED } from "../../scripts/start/worker-options.ts";
import { PROJECT } from "../harness/build.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { type Ended, StartedCommand, StartedServer } from "./started-server.ts";

function start(...options: string[]): Promise<Ended> {
  return new StartedServer(...options).ended();
}

test("npm start prints a push command once it answers, and leaves no process behind", async () => {
  await using server = await new StartedServer("--port", "0", "--persist-to", makeTempDir("start")).ready();
  expect((await fetch(server.url)).status).toBe(200);
  expect(await server.runtime()).toBeGreaterThan(0);
  server.kill();
  await server.ended();
  expect(await server.processes()).toEqual(new Map());
});

test("npm start runs the Worker as wrangler.toml declares it", () => {
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(PROJECT, "wrangler.toml"));
  const isSet = (value: unknown): boolean =>
    value !== undefined && !(typeof value === "object" && value !== null && Object.values(value).length === 0);
  // Where it lies and how it is bundled is not part of it; variables have options.
  const { rootPath: _, modulesRules: __, bindings, email, ...declared } = workerOptions as Record<string, unknown>;
  expect(bindings).toEqual({ ACCESS: "token", MAX_BODY_BYTES: "100000000" });
  expect(email).toEqual({ send_email: [] });
  const { name, r2Buckets, ...rest } = DECLARED;
  expect(Object.fromEntries(Object.entries(declared).filter(([, value]) => isSet(value)))).toEqual({
    ...rest,
    r2Buckets: { BUCKET: { id: r2Buckets.BUCKET } },
  });
  expect(readFileSync(join(PROJECT, "wrangler.toml"), "utf8")).toContain(`name = "${name}"`);
});

test("npm start says in one line what is wrong with its options, before anything starts", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const parent = makeTempDir("start");
  const dir = join(parent, "never");
  const file = join(parent, "file");
  writeFileSync(file, "");
  const wrong: [options: string[], line: string | RegExp][] = [
    [["--port", "abc"], "--port abc: a port is a number from 0 to 65535"],
    [["--port", "70000"], "--port 70000: a port is a number from 0 to 65535"],
    [["--port=-1"], "--port -1: a port is a number from 0 to 65535"],
    [["--port", ""], "--port : a port is a number from 0 to 65535"],
    [["--port"], "Option '--port <value>' argument missing (see --help)"],
    [["--prot", "80"], "Unknown option '--prot' (see --help)"],
    [["-p"], "Unknown option '-p' (see --help)"],
    [["8080"], `'8080' is no option; with npm, options come after "--" (--help)`],
    [["--port", String(port)], `--port ${port}: the port is taken; npm start -- --port N takes another`],
    [["--ip", "here", "--access", "token"], "--ip here: not an address of this machine"],
    [["--port", "8787", "--ip", "192.0.2.1"], /^--ip 192\.0\.2\.1 --port 8787: .*EADDRNOTAVAIL/],
    [["--access", "all"], "--access is open or token, not all"],
    [["--log-level", "loud"], "--log-level is none or error or warn or info, not loud"],
    [["--limits", '{"maxHaves":-1}'], /^--limits \{"maxHaves":-1\}: limit maxHaves must be/],
    [["--limits", "x"], /^--limits x: .*JSON/],
    [["--secrets", "/none"], "--secrets /none: there is no such file; npm run setup -- --file FILE makes one"],
    [["--persist-to", file], `--persist-to ${file}: it is a file, or lies in one; a folder is needed`],
    [
      ["--persist-to", join(file, "x")],
      `--persist-to ${join(file, "x")}: it is a file, or lies in one; a folder is needed`,
    ],
    [["--persist-to", "/sys/holdfast"], /^--persist-to \/sys\/holdfast: it cannot be written/],
  ];
  try {
    for (const [options, line] of wrong) {
      const defaults = options.includes("--persist-to") ? ["--port", "0"] : ["--persist-to", dir];
      const { status, stdout, stderr } = await start(...defaults, ...options);
      expect({ status, stdout }, stderr).toEqual({ status: 2, stdout: "" });
      expect(stderr.split("\n")).toEqual([typeof line === "string" ? line : expect.stringMatching(line), ""]);
    }
  } finally {
    other.close();
  }
  expect(() => statSync(dir)).toThrow("ENOENT");
});

test("--help anywhere tells of npm start and npm run setup, and does nothing", async () => {
  const parent = makeTempDir("start");
  const dir = join(parent, "never");
  for (const options of [["--help"], ["-h"], ["--persist-to", dir, "--help"], ["--nonsense", "--port", "--help"]]) {
    const { status, stdout, stderr } = await start(...options);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: npm start /);
  }
  const file = join(dir, "token");
  const setup = new StartedCommand("npm", ["run", "setup", "--silent", "--", "--file", file, "--deployed", "--help"]);
  const { status, stdout } = await setup.ended();
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Usage: npm run setup /);
  expect(() => statSync(dir)).toThrow("ENOENT");
});

test("npm run setup says in one line what is wrong", async () => {
  const parent = makeTempDir("setup");
  for (const options of [["--replaec"], ["--file"], ["me"], ["--file", join(parent, "none", "token")]]) {
    const { status, stdout, stderr } = await new StartedCommand("npm", [
      "run",
      "setup",
      "--silent",
      "--",
      ...options,
    ]).ended();
    expect({ status, stdout }, stderr).toEqual({ status: 2, stdout: "" });
    expect(stderr.split("\n")).toHaveLength(2);
  }
});

test("a second npm start on a folder is refused while the first runs, and not after it was killed", async () => {
  const dir = makeTempDir("start");
  const options = ["--port", "0", "--persist-to", dir];
  await using first = await new StartedServer(...options).ready();
  const { status, stderr } = await start(...options);
  const node = await first.find("node scripts/start.ts");
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: `--persist-to ${dir}: process ${node} uses this folder already; only one server at a time may\n`,
  });
  expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
  first.signalGroup("SIGKILL");
  await first.ended();
  await using second = await new StartedServer(...options).ready();
  expect((await fetch(`${second.url}/healthz`)).status).toBe(200);
});

test("what npm run setup makes and replaces lets in, or no longer, while the server runs", async () => {
  const file = join(makeTempDir("setup"), ".dev.vars");
  writeFileSync(file, "OTHER=kept");
  const setUp = async (...options: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)("npm", ["run", "setup", "--", "--file", file, ...options], {
      cwd: PROJECT,
    });
    return /shown this once:\n\n {2}(\S{43})\n/.exec(stdout)![1]!;
  };
  const options = ["--port", "0", "--persist-to", makeTempDir("start"), "--access", "token", "--secrets", file];
  await using server = await new StartedServer(...options).ready();
  expect(server.output).toContain("Requests need a token");
  const ask = async (secret: string) =>
    (await fetch(`${server.url}/api/repos`, { headers: { Authorization: `Bearer ${secret}` } })).status;
  expect([await ask("x"), await ask("undefined"), await ask("null")]).toEqual([401, 401, 401]);
  const token = await setUp();
  expect([await ask(token), await ask(`${token}x`)]).toEqual([200, 401]);
  await expect(setUp()).rejects.toThrow("--replace makes a new one");
  expect(await ask(token)).toBe(200);
  const next = await setUp("--replace");
  expect([await ask(next), await ask(token)]).toEqual([200, 401]);
  expect(readFileSync(file, "utf8")).toBe(`OTHER=kept\nADMIN_TOKEN=${next}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
