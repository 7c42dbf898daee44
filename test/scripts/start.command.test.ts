import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROJECT } from "../harness/build.ts";
import { readUntil, start } from "../harness/npm-start.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** The processes of the group which `npm start` leads and which have not ended. */
async function listGroup(leader: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pgid=,stat=,args="]);
  const lines = stdout.split("\n").map((line) => line.trim());
  return lines.filter((line) => line.startsWith(`${leader} `) && !line.startsWith(`${leader} Z`));
}

test("npm start prints a push command once it answers, and leaves no process behind", async () => {
  const child = start("--port", "0", "--persist-to", makeTempDir("start"));
  const text = await readUntil(child, /Ctrl-C/);
  const [, url = ""] = /git push (http:\/\/localhost:\d+)\/me\/my-repo.git main/.exec(text) ?? [];
  expect((await fetch(url)).status).toBe(200);
  const leader = child.pid ?? 0;
  expect((await listGroup(leader)).join("\n")).toContain("workerd serve");
  child.kill("SIGTERM");
  await expect.poll(() => listGroup(leader), { timeout: 10_000 }).toEqual([]);
});

test("npm start says when its port is taken", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const child = start("--port", String(port));
  expect(await readUntil(child, /never/)).toContain(`port ${port} is taken`);
  expect(child.exitCode).toBe(1);
  other.close();
});

test("what npm run setup makes lets in, where tokens are asked for; and nothing else does", async () => {
  const file = join(makeTempDir("setup"), ".dev.vars");
  const setUp = (...options: string[]) =>
    promisify(execFile)("npm", ["run", "setup", "--", "--file", file, ...options], { cwd: PROJECT });
  const { stdout } = await setUp();
  const [, token] = /shown this once:\n\n {2}(\S{43})\n/.exec(stdout)!;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await expect(setUp()).rejects.toThrow("--replace makes another");
  const child = start("--port", "0", "--persist-to", makeTempDir("start"), "--access", "token", "--env-file", file);
  try {
    const text = await readUntil(child, /Ctrl-C/);
    expect(text).toContain("Requests need a token");
    const [, url = ""] = /git push (http:\/\/localhost:\d+)\/me\/my-repo.git main/.exec(text) ?? [];
    const ask = async (secret: string) =>
      (await fetch(`${url}/api/repos`, { headers: { Authorization: `Bearer ${secret}` } })).status;
    expect([await ask(token!), await ask(`${token}x`)]).toEqual([200, 401]);
  } finally {
    child.kill("SIGTERM");
    await once(child, "close");
  }
});
