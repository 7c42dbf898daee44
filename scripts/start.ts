/** `npm start`: serves Holdfast on this machine through `wrangler dev`, with its data under the project folder. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, isIPv4, isIPv6 } from "node:net";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const USAGE = `Usage: npm start [-- OPTIONS]

Serves Holdfast on this machine, and keeps its data in .holdfast/.

  --port N           port to listen on (default 8787; 0 takes a free one)
  --persist-to DIR   folder for the data (default .holdfast)
  --ip ADDRESS       address to listen on (default 127.0.0.1)
  --access WHICH     open: to every local user, only on loopback (default there); token: whatever is not public needs one
                     (default elsewhere); npm run setup makes the first
  --log-level LEVEL  debug, info, log, warn, error or none (default warn; info prints every request)
  --help             this text

Every other option goes to wrangler dev as it is.
`;

type Access = "open" | "token";

const PROJECT = join(import.meta.dirname, "..");
/** Wrangler then asks nobody for updates, request metadata or statistics: a start needs no network. */
const OFFLINE = { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true", CLOUDFLARE_CF_FETCH_ENABLED: "false" };
/** The runtime then shows its databases to nobody, and keeps no traces. */
const CLOSED = { X_LOCAL_EXPLORER: "false", X_LOCAL_OBSERVABILITY: "false" };

/** Reads `--name value` or `--name=value` from the command line; the last one wins. */
function readOption(args: readonly string[], name: string): string | undefined {
  for (let index = args.length - 1; index >= 0; index--) {
    if (args[index] === `--${name}`) return args[index + 1];
    if (args[index]?.startsWith(`--${name}=`)) return args[index]?.slice(name.length + 3);
  }
  return undefined;
}

/** Ends wrangler, and so the runtime, when the process which started it is gone, whatever ended that. */
const END_WITH_PARENT = `data:text/javascript,process.on("disconnect", () => process.kill(process.pid, "SIGTERM"))`;

/** Shuts the runtime's own doors. */
const SHUT_LOCAL_PATHS = import.meta.resolve("./shut-local-paths.ts");

/** Whether nobody but this machine reaches an address. */
function isLoopback(ip: string): boolean {
  return ip === "localhost" || ip === "::1" || (isIPv4(ip) && ip.startsWith("127."));
}

/** Says why a port cannot be listened on, or nothing when it can.
 * Asked beforehand, because wrangler goes on to another port or stops with a stack trace. */
async function findPortProblem(port: number, ip: string): Promise<string | undefined> {
  const probe = createServer().listen(port, ip);
  try {
    await once(probe, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "EADDRINUSE" ? `port ${port} is taken; choose another: npm start -- --port N` : message;
  }
  await new Promise((closed) => probe.close(closed));
  return undefined;
}

/** Prints how to push, once the Worker answers: wrangler says "ready" even when the build failed.
 * @throws Error if the connection fails */
async function announce(ip: string, port: number, access: Access): Promise<void> {
  const host = isIPv6(ip) ? `[${ip}]` : ip;
  const url = `http://${ip === "127.0.0.1" ? "localhost" : host}:${port}`;
  await fetch(url);
  const need = access === "open" ? "" : "\nRequests need a token: npm run setup makes the first.";
  console.log(`Holdfast serves at ${url}${need}

To push a repository:   git push ${url}/me/my-repo.git main
To clone it again:      git clone ${url}/me/my-repo.git

Ctrl-C ends it.`);
}

/** The command line without an option and its value. */
function dropOption(args: readonly string[], name: string): string[] {
  return args.filter((arg, i) => arg !== `--${name}` && args[i - 1] !== `--${name}` && !arg.startsWith(`--${name}=`));
}

function startWrangler(args: readonly string[], ip: string, access: Access): void {
  const defaults: Record<string, string> = {
    port: "8787",
    ip,
    "persist-to": join(PROJECT, ".holdfast"),
    "inspector-port": "0",
    "log-level": "warn",
    "show-interactive-dev-session": "false",
  };
  const missing = Object.entries(defaults).filter(([name]) => readOption(args, name) === undefined);
  const wrangler = fork(
    fileURLToPath(import.meta.resolve("wrangler")),
    ["dev", ...missing.flatMap(([name, value]) => [`--${name}`, value]), "--var", `ACCESS:${access}`, ...args],
    {
      cwd: PROJECT,
      env: { ...process.env, ...OFFLINE, ...CLOSED },
      execArgv: ["--no-warnings", "--import", END_WITH_PARENT, "--import", SHUT_LOCAL_PATHS],
    },
  );
  wrangler.on("message", (message) => {
    const ready = JSON.parse(message as string) as { event: string; port: number };
    if (ready.event !== "DEV_SERVER_READY") return;
    announce(ip, ready.port, access).catch((error: unknown) => {
      // Ended while it waited for the answer: nothing to say.
      if (wrangler.killed) return;
      console.error("Holdfast does not answer:", error);
      wrangler.kill("SIGTERM");
    });
  });
  // A terminal sends its signal to wrangler as well; the second one then does no harm.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => wrangler.kill("SIGTERM"));
  // npm's shell does not pass signals on: when it goes, so does this process.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && wrangler.kill("SIGTERM"), 250).unref();
  wrangler.on("exit", (code) => process.exit(code ?? 0));
}

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  console.log(USAGE);
} else {
  const ip = readOption(args, "ip") ?? "127.0.0.1";
  const access = readOption(args, "access") ?? (isLoopback(ip) ? "open" : "token");
  if (access !== "open" && access !== "token") refuse(`--access is open or token, not ${access}`, 2);
  else if (access === "open" && !isLoopback(ip)) {
    refuse(
      `--access open is for this machine alone, and others reach ${ip}: take --access token, or --ip 127.0.0.1`,
      2,
    );
  } else {
    const problem = await findPortProblem(Number(readOption(args, "port") ?? 8787), ip);
    if (problem === undefined) startWrangler(dropOption(args, "access"), ip, access);
    else refuse(problem, 1);
  }
}

function refuse(problem: string, exitCode: number): void {
  console.error(`Holdfast cannot start: ${problem}`);
  process.exitCode = exitCode;
}
