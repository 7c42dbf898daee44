/** `git http-backend` behind Apache, set up as in git's manual: the usual native Git host.
 * @see git-http-backend(1) */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { git, gitEnv } from "./git.ts";
import type { NativeServer } from "./native.ts";
import { readTreeCpuSeconds } from "./process.ts";
import { findFreePort } from "./server.ts";
import { makeTempDir } from "./temp-dir.ts";

/** Where a distribution installs Apache, and the user it runs as. */
interface Installation {
  readonly program: string;
  readonly modulesDir: string;
  readonly user: string;
}

const INSTALLATIONS: readonly Installation[] = [
  { program: "/usr/sbin/apache2", modulesDir: "/usr/lib/apache2/modules", user: "www-data" },
  { program: "/usr/sbin/httpd", modulesDir: "/usr/lib64/httpd/modules", user: "apache" },
];

/** mod_cgi, not mod_cgid: the latter's daemon ignores SIGCHLD, and the kernel then drops its
 * children's CPU time. */
const MODULES = ["mpm_event", "cgi", "env", "alias", "authz_core", "setenvif"];

/** Longest wait for Apache's first answer. */
const START_MS = 10_000;

const isRoot = process.getuid?.() === 0;

/** A native server whose CPU is that of Apache and of every git process it ran. */
interface ApacheServer extends NativeServer {
  /** Gives Apache, which drops root's rights, access to a folder. */
  admit(dir: string): void;
}

/** Serves the bare repositories below a folder.
 * @returns undefined if Apache is not installed
 * @throws Error with Apache's log if it does not start */
export async function startApache(rootDir: string): Promise<ApacheServer | undefined> {
  const installation = INSTALLATIONS.find(({ program }) => existsSync(program));
  if (installation === undefined) return undefined;
  const { program, user } = installation;
  const dir = makeTempDir("apache");
  const port = await findFreePort();
  const config = join(dir, "httpd.conf");
  writeFileSync(config, await configure(installation, { dir, rootDir, port }));
  const admit = (path: string): void => {
    if (isRoot) execFileSync("chown", ["-R", `${user}:`, path]);
  };
  for (const path of [dir, rootDir]) {
    admit(path);
    // Only its owner may enter the run's folder. Apache must pass through it to a folder below.
    chmodSync(dirname(path), statSync(dirname(path)).mode | 0o111);
  }
  const child = spawn(program, ["-f", config, "-DFOREGROUND"], { stdio: "inherit" });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} cannot be run`);
  const end = (): void => void child.kill();
  process.once("exit", end);
  const url = `http://127.0.0.1:${port}`;
  await waitForAnswer(url, () => {
    if (child.exitCode === null) return;
    throw new Error(`Apache ended with ${child.exitCode}:\n${readFileSync(join(dir, "error.log"), "utf8")}`);
  });
  return {
    url,
    admit,
    readCpuSeconds: () => readTreeCpuSeconds(pid),
    async close() {
      const gone = once(child, "exit");
      end();
      await gone;
      process.off("exit", end);
    },
  };
}

async function configure(
  { modulesDir, user }: Installation,
  { dir, rootDir, port }: { readonly dir: string; readonly rootDir: string; readonly port: number },
): Promise<string> {
  const backend = join(await git(dir, "--exec-path"), "git-http-backend");
  const variables = { ...gitEnv(), HOME: dir, GIT_PROJECT_ROOT: rootDir, GIT_HTTP_EXPORT_ALL: "1" };
  return [
    ...MODULES.map((name) => `LoadModule ${name}_module ${join(modulesDir, `mod_${name}.so`)}`),
    ...(isRoot ? [`User ${user}`, `Group ${user}`] : []),
    "ServerName 127.0.0.1",
    `Listen 127.0.0.1:${port}`,
    `ServerRoot ${dir}`,
    `DefaultRuntimeDir ${dir}`,
    `PidFile ${join(dir, "httpd.pid")}`,
    `ErrorLog ${join(dir, "error.log")}`,
    "LimitRequestBody 0",
    ...Object.entries(variables).map(([name, value]) => `SetEnv ${name} "${value}"`),
    'SetEnvIf Git-Protocol ".*" GIT_PROTOCOL=$0',
    `ScriptAlias / ${backend}/`,
    "<Location />",
    "Require all granted",
    "</Location>",
    "",
  ].join("\n");
}

async function waitForAnswer(url: string, checkAlive: () => void): Promise<void> {
  for (const deadline = Date.now() + START_MS; ; await sleep(50)) {
    checkAlive();
    try {
      await fetch(url);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error("Apache does not answer", { cause: error });
    }
  }
}
