/** The real Worker on workerd, for end-to-end tests.
 *
 * The bundle is the one that `wrangler deploy` uploads, run directly by Miniflare. This is closest
 * to production: `wrangler dev` puts a second workerd in front that copies every byte, and
 * wrangler's own test harness loses data across a restart. A start takes 0.25 s. */
import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4MiniflareOptions } from "miniflare";
import type { Limits } from "../../src/base/format/configured-limits.ts";
import { networkOf } from "../../scripts/start/worker-options.ts";
import { watchRuntimes } from "../../scripts/start/runtime-process.ts";
import type { RepositoryEvent } from "../../src/contract/log-events.ts";
import type { S3Bucket } from "../../src/base/chunks/signed-requests.ts";
import { buildWorker, readMiniflareOptions } from "./build.ts";
import { readUsage, type Usage } from "./process.ts";
import { makeTempDir } from "./temp-dir.ts";
import { type LoggedRequest, WorkerLog } from "./worker-log.ts";

const BUCKET_WORKER = join(import.meta.dirname, "bucket-worker.mjs");

/** The entry module of a Worker with another bucket, and what it imports, by their names there. */
const S3_MODULES = {
  "s3-entry.mjs": join(import.meta.dirname, "s3-entry.mjs"),
  "s3-bucket.mjs": join(import.meta.dirname, "s3-bucket.mjs"),
  "aws4fetch.mjs": fileURLToPath(import.meta.resolve("aws4fetch")),
};

const QUEUE_WORKER = join(import.meta.dirname, "queue-worker.mjs");

/** Options for starting a server; all are optional. */
export interface ServerOptions {
  /** Where R2 and SQLite store their files; default: a directory that `close` removes. */
  readonly persistDir?: string;
  /** Variables of the Worker, overriding those of `wrangler.toml`. `ACCESS` is `open` by default,
   * and in `LIMITS` `quietMs` is 0: jobs run as soon as they are due. */
  readonly vars?: Readonly<Record<string, string>>;
  /** The module of a Worker that is the deployment's policy; default: there is none. */
  readonly policy?: string;
  /** Webhooks connect to public addresses only, whatever the setting lets them name: for addresses
   * that look public, and lead to this machine. */
  readonly checksReceivers?: boolean;
  /** An S3 server that keeps objects of the Worker's bucket, which are in both, as on the platform.
   * @see s3-entry.mjs */
  readonly s3?: S3Bucket;
  /** What is in `s3`: LFS objects, the default, or the whole bucket, so that the runtime's R2 takes
   * none of the Worker's time. `readObjects` and `loseObjects` see the runtime's R2 alone. */
  readonly s3Holds?: "lfs" | "all";
  /** The URL to which the consumer of the deployment's queue passes events on; default: there is no
   * queue. */
  readonly queue?: string;
  /** Gets every line that the server prints. */
  readonly onPrint?: (line: string) => void;
  /** A loopback port for V8's inspector; default: none. */
  readonly inspectorPort?: number;
  /** MiB that V8 gives an isolate's heap, as the platform does: V8 ends what needs more, and
   * collects garbage in time for it. Default: gigabytes, of which much garbage takes its part. */
  readonly heapMib?: number;
  /** Constants of the Worker's code to replace, by name: waits that cannot be configured but would
   * slow a test down. */
  readonly constants?: Readonly<Record<string, number>>;
}

/** A stored R2 object. */
export interface StoredObject {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A running server. Its URL stays the same across restarts. */
export interface Server {
  /** Without a trailing slash. */
  readonly url: string;
  /** Where R2 and SQLite store their files. */
  readonly persistDir: string;
  /** The process id of workerd, which runs the Worker and its Durable Objects; a restart changes
   * it. */
  readonly pid: number;
  /** Takes the oldest remaining event of a kind out of the Worker's log; waits for it if needed.
   * @throws Error after 30 seconds */
  takeEvent<Kind extends RepositoryEvent["event"]>(kind: Kind): Promise<Extract<RepositoryEvent, { event: Kind }>>;
  /** Reads the R2 objects whose key contains a text: bytes and metadata by key. */
  readObjects(text: string): Promise<Map<string, StoredObject>>;
  /** Deletes the R2 objects whose key contains a text, behind the Worker's back.
   * @returns how many there were */
  loseObjects(text: string): Promise<number>;
  /** Takes all remaining events so far, the oldest first. */
  takeEvents(): RepositoryEvent[];
  /** All requests that the Worker has logged so far. */
  readonly requests: readonly LoggedRequest[];
  /** CPU and memory of workerd since it started. */
  readUsage(): Usage;
  /** Kills workerd like a crash (SIGKILL), and waits until it has ended. */
  kill(): Promise<void>;
  /** Starts again with the same data and port; kills workerd first, if it still runs. */
  restart(): Promise<void>;
  /** Ends the server, and removes the data unless `persistDir` was given. */
  close(): Promise<void>;
}

/** Starts the Worker on a free loopback port and waits until it answers.
 * @throws Error if the build fails or workerd does not start */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const persistDir = options.persistDir ?? makeTempDir("data");
  const port = await findFreePort();
  const log = new WorkerLog(options.onPrint);
  const limits = { quietMs: 0, ...(JSON.parse(options.vars?.["LIMITS"] ?? "{}") as Partial<Limits>) };
  const { inspectorPort, constants = {}, policy, queue, s3, s3Holds = "lfs" } = options;
  const { checksReceivers = false } = options;
  const vars = {
    ACCESS: "open",
    ...(s3 !== undefined && {
      S3_HOLDS: s3Holds,
      S3_ENDPOINT: s3.endpoint,
      S3_BUCKET: s3.bucket,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    }),
    ...options.vars,
    LIMITS: JSON.stringify(limits),
  };
  const modules = { constants, sharesBucket: s3 !== undefined };
  const miniflareOptions = await configure({
    port,
    persistDir,
    vars,
    log,
    inspectorPort,
    modules,
    policy,
    queue,
    checksReceivers,
  });
  const start = (): Promise<Runtime> => startRuntime(miniflareOptions, port, options.heapMib);
  let running = await start();
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
    loseObjects: async (text) => (await (await askBucket(running.miniflare, "DELETE", text)).json()) as number,
    async readObjects(text) {
      const bytes = Buffer.from(await (await askBucket(running.miniflare, "GET", text)).arrayBuffer());
      const objects = new Map<string, StoredObject>();
      for (let at = 0; at < bytes.length;) {
        const line = bytes.toString("utf8", at, (at = bytes.indexOf("\n", at) + 1));
        const { key, sizeBytes, contentType, metadata } = JSON.parse(line) as DescribedObject;
        objects.set(key, { bytes: bytes.subarray(at, (at += sizeBytes)), contentType, metadata });
        if (at > bytes.length) throw new Error(`the bucket sent ${bytes.length} bytes, where ${at} were expected`);
      }
      return objects;
    },
    readUsage: () => readUsage(pidOf(running.workerd)),
    async kill() {
      running.workerd.kill("SIGKILL");
      // Before Miniflare notices the end, which it would take for a crash, starting workerd again.
      await stop();
    },
    async restart() {
      await stop();
      running = await start();
    },
    async close() {
      await stop();
      if (options.persistDir === undefined) await rm(persistDir, { recursive: true });
    },
  };
}

type DescribedObject = Omit<StoredObject, "bytes"> & { readonly key: string; readonly sizeBytes: number };

/** Asks the Worker beside the tested one. @see bucket-worker.mjs */
async function askBucket(
  miniflare: Miniflare,
  method: "GET" | "DELETE",
  text: string,
): ReturnType<Miniflare["dispatchFetch"]> {
  const bucket = await miniflare.getWorker("bucket");
  return bucket.fetch(`http://bucket/?${encodeURIComponent(text)}`, { method });
}

interface Runtime {
  readonly miniflare: Miniflare;
  readonly workerd: ChildProcess;
}

/** The variable with which Miniflare has flags for V8. */
const V8_FLAGS = "MINIFLARE_WORKERD_V8_FLAGS";

/** Starts Miniflare and captures its workerd process, whose id it does not report. */
async function startRuntime(
  options: ConstructorParameters<typeof Miniflare>[0],
  port: number,
  heapMib: number | undefined,
): Promise<Runtime> {
  let workerd: ChildProcess | undefined;
  const endWatch = watchRuntimes(`127.0.0.1:${port}`, (child) => (workerd = child));
  try {
    // Miniflare has no option for it, and reads the variable when it starts the runtime.
    if (heapMib !== undefined) process.env[V8_FLAGS] = `--max-heap-size=${heapMib}`;
    const miniflare = new Miniflare(options);
    await miniflare.ready;
    if (workerd === undefined) throw new Error("Miniflare became ready without starting workerd");
    return { miniflare, workerd };
  } finally {
    endWatch();
    delete process.env[V8_FLAGS];
  }
}

async function configure(settings: {
  readonly port: number;
  readonly persistDir: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly log: WorkerLog;
  readonly inspectorPort: number | undefined;
  readonly modules: ModuleSettings;
  readonly policy: string | undefined;
  readonly queue: string | undefined;
  readonly checksReceivers: boolean;
}): Promise<ReturnType<typeof convertV4MiniflareOptions>> {
  const dir = (process.env["HOLDFAST_WORKER_DIR"] ??= await buildWorker());
  // Everything that wrangler.toml declares is passed on unchanged.
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
        modules: await readModules(dir, settings.modules),
        serviceBindings: {
          ...(settings.policy !== undefined && { POLICY: "policy" }),
          ...(settings.checksReceivers && { RECEIVERS: networkOf(false) }),
        },
        ...(settings.queue !== undefined && { queueProducers: { EVENTS: "events" } }),
      },
      ...(settings.policy === undefined ? [] : [await describeModule("policy", settings.policy)]),
      ...(settings.queue === undefined ? [] : [await describeConsumer(settings.queue)]),
      {
        name: "bucket",
        modulesRoot: import.meta.dirname,
        compatibilityDate: workerOptions["compatibilityDate"] as string,
        r2Buckets: workerOptions["r2Buckets"] as Record<string, string>,
        modules: [{ type: "ESModule", path: BUCKET_WORKER, contents: await readFile(BUCKET_WORKER) }],
      },
    ],
  };
  return convertV4MiniflareOptions(options);
}

async function describeConsumer(receiver: string) {
  const worker = await describeModule("consumer", QUEUE_WORKER);
  return { ...worker, bindings: { RECEIVER: receiver }, queueConsumers: { events: { maxBatchTimeout: 0.1 } } };
}

async function describeModule(name: string, path: string) {
  const contents = await readFile(path);
  return { name, modulesRoot: dirname(path), modules: [{ type: "ESModule" as const, path, contents }] };
}

interface ModuleSettings {
  readonly constants: Readonly<Record<string, number>>;
  readonly sharesBucket: boolean;
}

interface WorkerModule {
  readonly type: "ESModule" | "CompiledWasm";
  readonly path: string;
  readonly contents: Uint8Array;
}

/** The first module is the entry point. */
async function readModules(dir: string, { constants, sharesBucket }: ModuleSettings): Promise<WorkerModule[]> {
  const wasm = (await readdir(dir)).filter((name) => name.endsWith(".wasm"));
  const code = (await readFile(join(dir, "main.js"))).toString();
  return [
    ...(sharesBucket ? await readEntry(dir) : []),
    { type: "ESModule", path: join(dir, "main.js"), contents: Buffer.from(setConstants(code, constants)) },
    ...(await Promise.all(
      wasm.map(async (name): Promise<WorkerModule> => {
        const path = join(dir, name);
        return { type: "CompiledWasm", path, contents: await readFile(path) };
      }),
    )),
  ];
}

/** The modules that give the Worker another bucket, the entry point first. */
async function readEntry(dir: string): Promise<WorkerModule[]> {
  return Promise.all(
    Object.entries(S3_MODULES).map(async ([name, source]): Promise<WorkerModule> => {
      return { type: "ESModule", path: join(dir, name), contents: await readFile(source) };
    }),
  );
}

/** Replaces constants of the built Worker.
 * @throws Error unless there is exactly one with each name */
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

/** Below the ports that Linux and macOS use for outgoing connections: another process could take
 * one of those between its choice and its use, and while a server restarts. */
const PORTS = [20_000, 32_000] as const;

/** Finds a loopback port on which nobody listens at the moment.
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
