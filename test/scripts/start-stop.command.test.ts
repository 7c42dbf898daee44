import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { tryGit } from "../harness/git.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { encodePushHead, readRefs, sendBody } from "../harness/raw-push.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { StartedCommand, StartedServer } from "./started-server.ts";

/** A push that is under way until it is told to go on. */
interface HeldPush {
  readonly tip: string;
  /** The report; `cut` when it broke off. */
  readonly answer: Promise<string>;
  goOn(): void;
}

/** Begins a push, and gives the server the time to take half of it: it has nothing to say until
 * more comes. */
async function beginPush(url: string): Promise<HeldPush> {
  const blob = makeObject("blob", randomBytes(1_000_000));
  const tree = makeTree(["100644", "file", blob]);
  const commit = makeCommit(tree);
  const head = encodePushHead({ commands: [{ name: "refs/heads/main", new: commit.oid }] });
  const body = Buffer.concat([head, packOf(blob, tree, commit)]);
  const { promise, resolve } = Promise.withResolvers<void>();
  async function* halves(): AsyncGenerator<Buffer> {
    yield body.subarray(0, body.length / 2);
    await promise;
    yield body.subarray(body.length / 2);
  }
  const answer = sendBody(`${url}/me/repo.git`, halves()).then(
    ({ unpack }) => `unpack ${unpack}`,
    () => "cut",
  );
  await sleep(3_000);
  return { tip: commit.oid, answer, goOn: resolve };
}

async function expectRefs(dir: string, tip: string | undefined): Promise<void> {
  await using server = await new StartedServer("--port", "0", "--persist-to", dir).ready();
  expect((await readRefs(`${server.url}/me/repo.git`)).get("refs/heads/main")).toBe(tip);
}

/** Connects anew and asks; null: there was no answer within a second. */
function ask(url: string, init: RequestInit = {}): Promise<Response | null> {
  return fetch(url, { ...init, headers: { Connection: "close" }, signal: AbortSignal.timeout(1_000) }).catch(
    () => null,
  );
}

const WAITS = /Waits up to 10 seconds for requests in progress; Ctrl-C again ends it at once\./;

for (const signal of ["SIGINT", "SIGTERM"] as const)
  test(`on ${signal} a push that is under way is done first`, async () => {
    const dir = makeTempDir("start");
    await using server = await new StartedServer("--port", "0", "--persist-to", dir).ready();
    const push = await beginPush(server.url);
    server.signalGroup(signal);
    await server.says(WAITS);
    // Whoever comes now is told at once, however often, and whatever they bring.
    for (let times = 0; times < 20; times++) {
      const refused = (await ask(`${server.url}/healthz`))!;
      expect(refused.status).toBe(503);
      expect(await refused.text()).toBe("the server is ending; try again when it has been started\n");
    }
    const body = randomBytes(3_000_000);
    expect((await ask(`${server.url}/me/repo.git/git-receive-pack`, { method: "POST", body }))?.status).toBe(503);
    push.goOn();
    expect(await push.answer).toBe("unpack ok");
    await server.ended();
    expect(server.output).not.toContain("cut off");
    await expectRefs(dir, push.tip);
  });

test("a git that comes when the server ends is told so", async () => {
  await using server = await new StartedServer("--port", "0", "--persist-to", makeTempDir("start")).ready();
  const push = await beginPush(server.url);
  server.signalGroup("SIGTERM");
  await server.says(WAITS);
  const { code, stderr } = await tryGit(makeTempDir("git"), ["ls-remote", `${server.url}/me/repo.git`]);
  expect(stderr).toContain("The requested URL returned error: 503");
  expect(code).toBe(128);
  push.goOn();
  expect(await push.answer).toBe("unpack ok");
});

test("a second Ctrl-C ends at once, and a push that was under way is not there", async () => {
  const dir = makeTempDir("start");
  await using server = await new StartedServer("--port", "0", "--persist-to", dir).ready();
  const push = await beginPush(server.url);
  server.signalGroup("SIGINT");
  await server.says(WAITS);
  const startMs = performance.now();
  server.signalGroup("SIGINT");
  expect(await push.answer).toBe("cut");
  await server.ended();
  expect(performance.now() - startMs).toBeLessThan(3_000);
  await expectRefs(dir, undefined);
});

test("what is not done within ten seconds is cut off", async () => {
  await using server = await new StartedServer("--port", "0", "--persist-to", makeTempDir("start")).ready();
  const push = await beginPush(server.url);
  const startMs = performance.now();
  server.signalGroup("SIGINT");
  await server.says(/Requests still in progress are cut off\. Nothing that was acknowledged is lost\./);
  expect(await push.answer).toBe("cut");
  expect(performance.now() - startMs).toBeGreaterThan(9_500);
  await server.ended();
});

test("a server with nothing under way ends at once, says why, and has status 0", async () => {
  const options = ["scripts/start.ts", "--port", "0", "--persist-to", makeTempDir("start")];
  const server = new StartedCommand(process.execPath, options);
  const [, url = ""] = await server.says(/serves at (\S+)[^]*Ctrl-C/);
  // The connection stays open, with nothing on it.
  expect((await fetch(url)).status).toBe(200);
  const said = server.output;
  server.signalGroup("SIGINT");
  expect((await server.ended()).status).toBe(0);
  expect(server.output).toBe(`${said}Holdfast ends: SIGINT.\n`);
});

test("the end of a shell that started it, and of no npm, ends nothing", async () => {
  const options = ["scripts/start.ts", "--port", "0", "--persist-to", makeTempDir("start")];
  // The shell has npm's environment, as one within `npm start` would, and ends at once.
  const script = `npm_lifecycle_event=start nohup "$0" "$@" & echo "pid $!"; sleep 1`;
  const shell = new StartedCommand("sh", ["-c", script, process.execPath, ...options]);
  const [, pid = ""] = await shell.says(/pid (\d+)/);
  const [, url = ""] = await shell.says(/serves at (\S+)[^]*Ctrl-C/);
  // Several times as long as npm is looked for.
  await sleep(3_000);
  expect(await (await ask(`${url}/healthz`))!.json()).toMatchObject({ status: "ok" });
  expect(shell.output).not.toContain("Holdfast ends");
  process.kill(Number(pid), "SIGTERM");
  await shell.says(/Holdfast ends: SIGTERM\./);
  await shell.ended();
});

test("the end of npm ends the server, which says so", async () => {
  const server = await new StartedServer("--port", "0", "--persist-to", makeTempDir("start")).ready();
  process.kill(await server.find("npm start"), "SIGKILL");
  await server.says(/Holdfast ends: npm, which started it, has ended\./);
  await expect.poll(() => server.processes()).toEqual(new Map());
});
