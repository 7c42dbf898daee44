/** The real Worker on workerd, as the end-to-end tests meet it.
 *
 * The bundle is the one which `wrangler deploy` uploads, run by Miniflare directly: nearest to production, since
 * `wrangler dev` puts a second workerd in front that copies every byte, and wrangler's own test harness keeps no data
 * across a restart. A start takes 0.25 s. */
import { type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4MiniflareOptions } from "miniflare";
import type { Limits } from "../../src/format/limits.ts";
import { watchRuntimes } from "../../scripts/start/runtime-process.ts";
import type { RepositoryEvent } from "../../src/repository/state/repository-event.ts";
import { buildWorker, readMiniflareOptions } from "./build.ts";
import { readUsage, type Usage } from "./process.ts";
import { makeTempDir } from "./temp-dir.ts";
import { type LoggedRequest, WorkerLog } from "./worker-log.ts";

/** How to start a server; every field may be left out. */
export interface ServerOptions {
  /** Where R2 and SQLite keep their files; without it, in a folder removed by `close`. */
  readonly persistDir?: string;
  /** Variables of the Worker, over those of `wrangler.toml`; `ACCESS` is `open` unless set here, and of the `LIMITS` `quietMs` is 0: jobs
   * run when they are due. */
  readonly vars?: Readonly<Record<string, string>>;
  /** A loopback port for V8's inspector; without it there is none. */
  readonly inspectorPort?: number;
  /** Constants of the Worker's code that are other ones here, by name: waits which nobody may configure, and a test
   * need not sit through. */
  readonly constants?: Readonly<Record<string, number>>;
}

/** An R2 object as it lies there. */
export interface StoredObject {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A running server. Its URL stays the same across restarts. */
export interface Server {
  /** Without a slash at its end. */
  readonly url: string;
  /** Where R2 and SQLite keep their files. */
  readonly persistDir: string;
  /** The process id of workerd, which runs the Worker and its Durable Objects; changes with a restart. */
  readonly pid: number;
  /** Takes the oldest event of a kind that nobody has taken, out of the Worker's log; waits for it if need be.
   * @throws Error after 30 seconds */
  takeEvent<Kind extends RepositoryEvent["event"]>(kind: Kind): Promise<Extract<RepositoryEvent, { event: Kind }>>;
  /** Reads the R2 objects whose key contains a text: bytes and metadata by key. */
  readObjects(text: string): Promise<Map<string, StoredObject>>;
  /** Removes the R2 objects whose key contains a text, behind the Worker's back.
   * @returns how many there were */
  loseObjects(text: string): Promise<number>;
  /** Takes every event that nobody has taken and that has come by now, the oldest first. */
  takeEvents(): RepositoryEvent[];
  /** Every request that the Worker has logged so far. */
  readonly requests: readonly LoggedRequest[];
  /** CPU and memory of workerd since it started. */
  readUsage(): Usage;
  /** Ends workerd as a crash would (SIGKILL), then waits until it is gone. */
  kill(): Promise<void>;
  /** Starts again on the same data and port; ends workerd first, as `kill` does, if it still runs. */
  restart(): Promise<void>;
  /** Ends the server and removes the data if `persistDir` was not given. */
  close(): Promise<void>;
}

/** Starts the Worker on a free loopback port and waits until it answers.
 * @throws Error if the build fails or workerd does not start */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const persistDir = options.persistDir ?? makeTempDir("data");
  const port = await findFreePort();
  const log = new WorkerLog();
  const limits = { quietMs: 0, ...(JSON.parse(options.vars?.["LIMITS"] ?? "{}") as Partial<Limits>) };
  const vars = { ACCESS: "open", ...options.vars, LIMITS: JSON.stringify(limits) };
  const { inspectorPort, constants = {} } = options;
  const miniflareOptions = await configure({ port, persistDir, vars, log, inspectorPort, constants });
  let running = await startRuntime(miniflareOptions, port);
  const stop = async (): Promise<void> => running.miniflare.dispose();
  return {
    url: `http://127.0.0.1:${port}`,
    persistDir,
    get pid() {
      return pidOf(running.workerd);
    },
    takeEvent: (kind) => log.take(kind),
    takeEvents: () => log.takeAll(),
    get requests() {
      return log.requests;
    },
    async loseObjects(text) {
      const bucket = await running.miniflare.getR2Bucket("BUCKET");
      const keys = await listKeys(bucket, text);
      for (let at = 0; at < keys.length; at += 1_000) await bucket.delete(keys.slice(at, at + 1_000));
      return keys.length;
    },
    async readObjects(text) {
      const bucket = await running.miniflare.getR2Bucket("BUCKET");
      const read = async (key: string): Promise<[string, StoredObject]> => {
        const object = (await bucket.get(key))!;
        const { httpMetadata, customMetadata = {} } = object;
        const bytes = Buffer.from(await object.arrayBuffer());
        return [key, { bytes, contentType: httpMetadata?.contentType, metadata: customMetadata }];
      };
      return new Map(await Promise.all((await listKeys(bucket, text)).map(read)));
    },
    readUsage: () => readUsage(pidOf(running.workerd)),
    async kill() {
      running.workerd.kill("SIGKILL");
      // Before Miniflare notices the end, which it would take for a crash and start workerd again.
      await stop();
    },
    async restart() {
      await stop();
      running = await startRuntime(miniflareOptions, port);
    },
    async close() {
      await stop();
      if (options.persistDir === undefined) await rm(persistDir, { recursive: true });
    },
  };
}

/** The keys of a bucket that contain a text. */
async function listKeys(bucket: Awaited<ReturnType<Miniflare["getR2Bucket"]>>, text: string): Promise<string[]> {
  const keys: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await bucket.list(cursor === undefined ? {} : { cursor });
    for (const { key } of page.objects) if (key.includes(text)) keys.push(key);
    if (!page.truncated) return keys;
    ({ cursor } = page);
  }
}

interface Runtime {
  readonly miniflare: Miniflare;
  readonly workerd: ChildProcess;
}

/** Starts Miniflare and catches the workerd which it starts: it tells nobody the process id. */
async function startRuntime(options: ConstructorParameters<typeof Miniflare>[0], port: number): Promise<Runtime> {
  let workerd: ChildProcess | undefined;
  const endWatch = watchRuntimes(`127.0.0.1:${port}`, (child) => (workerd = child));
  try {
    const miniflare = new Miniflare(options);
    await miniflare.ready;
    if (workerd === undefined) throw new Error("Miniflare became ready without starting workerd");
    return { miniflare, workerd };
  } finally {
    endWatch();
  }
}

async function configure(settings: {
  readonly port: number;
  readonly persistDir: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly log: WorkerLog;
  readonly inspectorPort: number | undefined;
  readonly constants: Readonly<Record<string, number>>;
}): Promise<ReturnType<typeof convertV4MiniflareOptions>> {
  const dir = (process.env["HOLDFAST_WORKER_DIR"] ??= await buildWorker());
  // Whatever wrangler.toml declares, passed on as it is.
  const workerOptions = await readMiniflareOptions(dir);
  const options: V4MiniflareOptions = {
    host: "127.0.0.1",
    port: settings.port,
    ...(settings.inspectorPort === undefined ? {} : { inspectorPort: settings.inspectorPort }),
    resourcePersistencePath: settings.persistDir,
    cf: false,
    log: new Log(LogLevel.ERROR),
    handleStructuredLogs: (entry) => settings.log.add(entry),
    workers: [
      {
        ...workerOptions,
        name: "holdfast",
        bindings: { ...(workerOptions["bindings"] as Record<string, string>), ...settings.vars },
        modulesRoot: dir,
        modules: await readModules(dir, settings.constants),
      },
    ],
  };
  return convertV4MiniflareOptions(options);
}

async function readModules(
  dir: string,
  constants: Readonly<Record<string, number>>,
): Promise<{ type: "ESModule" | "CompiledWasm"; path: string; contents: Uint8Array }[]> {
  const names = await readdir(dir);
  const wasm = names.filter((name) => name.endsWith(".wasm"));
  const modules = await Promise.all(
    // The first module is the entry point.
    ["worker.js", ...wasm].map(async (name) => ({
      type: name.endsWith(".wasm") ? ("CompiledWasm" as const) : ("ESModule" as const),
      path: join(dir, name),
      contents: await readFile(join(dir, name)),
    })),
  );
  modules[0]!.contents = Buffer.from(setConstants(modules[0]!.contents.toString(), constants));
  return modules;
}

/** Gives constants of the built Worker other values.
 * @throws Error if there is not exactly one of that name */
function setConstants(code: string, constants: Readonly<Record<string, number>>): string {
  return Object.entries(constants).reduce((changed, [name, value]) => {
    const parts = changed.split(new RegExp(`^var ${name} = [^;\\n]*;$`, "m"));
    if (parts.length !== 2) throw new Error(`the Worker has ${parts.length - 1} constants ${name}`);
    return parts.join(`var ${name} = ${value};`);
  }, code);
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("workerd has no process id: it did not start");
  return child.pid;
}

/** Below the ports that Linux and macOS give to outgoing connections: one of those could be taken by a connection of any process
 * between its choice and its use, and while a server restarts. */
const PORTS = [20_000, 32_000] as const;

/** Finds a port which nobody listens on at the moment, on loopback.
 * @throws Error if ten in a row are taken */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 10; tries++) {
    const port = randomInt(...PORTS);
    const probe = createServer().listen(port, "127.0.0.1");
    try {
      await once(probe, "listening");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") continue;
      throw error;
    }
    await new Promise((closed) => probe.close(closed));
    return port;
  }
  throw new Error(`no free port was found between ${PORTS.join(" and ")}`);
}
