/** `npm start`: serves Holdfast on this machine, with its data under the project folder. */
import { enableCompileCache, flushCompileCache } from "node:module";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runCommandLine, UsageError } from "./command-line.ts";
import { takeDataFolder } from "./start/data-folder.ts";
import { HeldSocket } from "./start/held-socket.ts";
import { keepModules } from "./start/kept-modules.ts";
import { onNpmEnd } from "./start/npm-end.ts";
import { OPTIONS, readStartOptions, type StartOptions, USAGE } from "./start/options.ts";
import { PROJECT } from "./project.ts";

/** Caches of earlier starts, which make the next one faster. `npm ci` removes them. */
const KEPT = join(PROJECT, "node_modules/.cache/holdfast");

/** Says that npm has ended, which started this process. */
const NPM_ENDED = "npm, which started it, has ended";

/** Opens the port before anything else starts.
 * @throws UsageError if the address cannot be listened at */
async function takePort({ port, ip }: StartOptions): Promise<HeldSocket> {
  try {
    return await HeldSocket.open(ip, port);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new UsageError(`--port ${port}: the port is taken; npm start -- --port N takes another`);
    throw new UsageError(`--ip ${ip} --port ${port}: ${message}`);
  }
}

function describe({ ip, access }: StartOptions, port: string): string {
  const host = isIPv6(ip) ? `[${ip}]` : ip;
  const url = `http://${ip === "127.0.0.1" ? "localhost" : host}:${port}`;
  const need = access === "open" ? "" : "\nRequests need a token: npm run setup makes the first.";
  return `Holdfast serves at ${url}${need}

To push a repository:   git push ${url}/me/my-repo.git main
To clone it again:      git clone ${url}/me/my-repo.git

Ctrl-C ends it.`;
}

async function start(options: StartOptions): Promise<void> {
  const socket = await takePort(options);
  takeDataFolder(options.dataFolder);
  // Saves a quarter of this process's memory; its little work does not get noticeably slower.
  setFlagsFromString("--optimize-for-size");
  // Miniflare is six megabytes of script. V8's cached code saves a quarter of its loading time.
  enableCompileCache(join(KEPT, "compiled"));
  // Slow modules are loaded only once nothing is wrong. Meanwhile a process of its own makes the
  // bundle.
  const modules = keepModules(join(KEPT, "worker"), PROJECT, async () =>
    (await import("./start/bundle.ts")).bundleWorker(),
  );
  const [{ LocalServer }, { describeServer }] = await Promise.all([
    import("./start/local-server.ts"),
    import("./start/worker-options.ts"),
  ]);
  const server = new LocalServer(describeServer({ ...options, port: socket.port }, await modules), socket, {
    note: (line) => console.error(line),
    ended: (status) => process.exit(status),
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => server.interrupt(signal));
  // npm's shell passes no signals on.
  onNpmEnd(() => server.stop(NPM_ENDED));
  console.log(describe(options, (await server.ready()).port));
  // Node does not write the cache when a signal ends the process.
  flushCompileCache();
}

await runCommandLine(USAGE, OPTIONS, async (values) => {
  try {
    await start(readStartOptions(values));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    console.error(`Holdfast cannot start: ${(error as Error).message}`);
    process.exit(1);
  }
});
