// The Worker as deployed, with a meter at every point that the platform bills. It is bundled in
// place of src/main.ts. The benchmark can set its clock forward, so that maintenance hours
// later is counted, too; alarms fire when that clock says so.
//
// The Worker and its objects share an isolate in the local runtime, and so they share these meters.
import { env } from "cloudflare:workers";
import type { Env } from "../../../src/contract/env.ts";
import app, { OwnerObject, RegistryObject, RepositoryObject } from "../../../src/main.ts";
import { type Bill, newBill, type Stored } from "./bill.ts";

type Kind = "repository" | "registry";

/** The meter of one object, in memory or not. */
interface Meter {
  readonly kind: Kind;
  readonly name: string;
  alarmMs: number | null;
  isInMemory: boolean;
  /** Requests and alarms in progress, and since when there have been any. */
  underWay: number;
  activeSinceMs: number;
}

interface Cursor {
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

let bill = newBill();
const meters = new Map<string, Meter>();
/** Maps a storage, or its `sql`, to its object's meter. */
const owners = new WeakMap<object, Meter>();
/** Cursors whose rows are not counted yet: they may be read later. */
let cursors: [Meter, Cursor][] = [];
/** Work that the Worker has promised to do after its answer. */
let promises = 0;

const readClock = Date.now.bind(Date);
let aheadMs = 0;
Date.now = () => readClock() + aheadMs;

/** Wraps a method of all objects of a class, given one of them. */
function wrap(
  object: object,
  method: string,
  around: (self: object, run: () => unknown, args: unknown[]) => unknown,
): void {
  const prototype = Object.getPrototypeOf(object) as Record<string, (...args: unknown[]) => unknown>;
  const original = prototype[method]!;
  prototype[method] = function (this: object, ...args: unknown[]): unknown {
    return around(this, () => original.apply(this, args), args);
  };
}

/** Runs once for each class, given an object of it. */
const known = new WeakSet<object>();
function isFirstOf(object: object): boolean {
  const prototype = Object.getPrototypeOf(object) as object;
  if (known.has(prototype)) return false;
  known.add(prototype);
  return true;
}

type Class = "R2 class A operations" | "R2 class B operations";

function countMethods(object: object, measure: Class, methods: readonly string[]): void {
  for (const method of methods) {
    wrap(object, method, (_, run) => {
      bill[measure] += 1;
      const made = run();
      return method === "createMultipartUpload" ? (made as Promise<object>).then(countUpload) : made;
    });
  }
}

function countBucket(): void {
  const bucket = (env as unknown as Env).BUCKET;
  if (!isFirstOf(bucket)) return;
  countMethods(bucket, "R2 class A operations", ["put", "list", "createMultipartUpload"]);
  countMethods(bucket, "R2 class B operations", ["get", "head"]);
}

function countUpload<T extends object>(upload: T): T {
  if (isFirstOf(upload)) countMethods(upload, "R2 class A operations", ["uploadPart", "complete"]);
  return upload;
}

function countStorage(storage: DurableObjectStorage, meter: Meter): void {
  owners.set(storage, meter);
  owners.set(storage.sql, meter);
  if (!isFirstOf(storage)) return;
  wrap(storage.sql, "exec", (sql, run) => {
    const cursor = run() as Cursor;
    cursors.push([owners.get(sql)!, cursor]);
    return cursor;
  });
  wrap(storage, "setAlarm", (self, _, [timeMs]) => {
    bill["alarms set"] += 1;
    owners.get(self)!.alarmMs = Number(timeMs);
    return Promise.resolve();
  });
  wrap(storage, "getAlarm", (self) => Promise.resolve(owners.get(self)!.alarmMs));
  wrap(storage, "deleteAll", (self, run) => {
    owners.get(self)!.alarmMs = null;
    return run();
  });
}

function takeCursors(): void {
  for (const [{ kind }, { rowsRead, rowsWritten }] of cursors) {
    bill[`${kind} rows read`] += rowsRead;
    bill[`${kind} rows written`] += rowsWritten;
  }
  cursors = [];
}

/** The meter of an object that enters memory. */
function openMeter(kind: Kind, context: DurableObjectState): Meter {
  const name = context.id.name!;
  const meter = meters.get(name) ?? { kind, name, alarmMs: null, isInMemory: true, underWay: 0, activeSinceMs: 0 };
  meter.isInMemory = true;
  meters.set(name, meter);
  countStorage(context.storage, meter);
  return meter;
}

function begin(meter: Meter): void {
  if (meter.underWay++ === 0) meter.activeSinceMs = performance.now();
}

function end(meter: Meter): void {
  if (--meter.underWay === 0) bill[`${meter.kind} active ms`] += performance.now() - meter.activeSinceMs;
}

async function metered<T>(meter: Meter, run: () => T | Promise<T>): Promise<T> {
  begin(meter);
  try {
    const answer = await run();
    return answer instanceof Response && answer.body !== null ? (holdOpen(meter, answer, answer.body) as T) : answer;
  } finally {
    end(meter);
  }
}

/** An object is active until its response is sent. */
function holdOpen(meter: Meter, response: Response, body: ReadableStream): Response {
  begin(meter);
  const { readable, writable } = new IdentityTransformStream();
  body.pipeTo(writable).then(
    () => end(meter),
    () => end(meter),
  );
  return new Response(readable, response);
}

/** An object whose calls are counted. */
interface Counted {
  readonly meter: Meter;
  readonly state: DurableObjectState;
  alarm(): Promise<void>;
}

/** The benchmark's own calls to an object, unbilled. */
interface Metered {
  evict(): Promise<void>;
  ring(): Promise<void>;
  readSize(): Promise<number>;
}

/** Counts every call of an object's methods. */
function countCalls(kind: Kind, original: object, counted: object): void {
  for (const name of Object.getOwnPropertyNames(original)) {
    if (name === "constructor" || name === "alarm") continue;
    const method = (original as Record<string, (...args: unknown[]) => unknown>)[name]!;
    Object.defineProperty(counted, name, {
      value(this: Counted, ...args: unknown[]): unknown {
        bill[`${kind} requests`] += 1;
        return metered(this.meter, () => method.apply(this, args));
      },
    });
  }
}

class MeteredRepository extends RepositoryObject implements Counted {
  readonly meter: Meter;
  readonly state: DurableObjectState;

  constructor(context: DurableObjectState, bindings: Env) {
    const meter = openMeter("repository", context);
    super(context, bindings);
    this.meter = meter;
    this.state = context;
  }
}

class MeteredRegistry extends RegistryObject implements Counted {
  readonly meter: Meter;
  readonly state: DurableObjectState;

  constructor(context: DurableObjectState, bindings: Env) {
    const meter = openMeter("registry", context);
    super(context, bindings);
    this.meter = meter;
    this.state = context;
  }
}

/** Answers the benchmark's calls, in both kinds of objects. */
const metering: Metered & ThisType<Counted> = {
  async evict() {
    await this.state.storage.sync();
    this.state.abort("evicted");
  },
  async ring() {
    bill.alarms += 1;
    this.meter.alarmMs = null;
    await metered(this.meter, () => this.alarm());
  },
  async readSize() {
    return this.state.storage.sql.databaseSize;
  },
};
Object.assign(MeteredRepository.prototype, metering);
Object.assign(MeteredRegistry.prototype, metering);

countCalls("repository", RepositoryObject.prototype, MeteredRepository.prototype);
countCalls("registry", RegistryObject.prototype, MeteredRegistry.prototype);

// Nobody listens to an owner here.
export { OwnerObject, MeteredRegistry as RegistryObject, MeteredRepository as RepositoryObject };

function stubOf({ kind, name }: Meter): Metered {
  const { REPOSITORY, REGISTRY } = env as unknown as Env;
  return (kind === "repository" ? REPOSITORY : REGISTRY).getByName(name) as unknown as Metered;
}

/** Waits until nothing is in progress. */
async function becomeIdle(): Promise<void> {
  while (promises > 0 || meters.values().some(({ underWay }) => underWay > 0))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Sets the clock forward. Alarms due by then fire one after the other. */
async function advance(ms: number): Promise<void> {
  const untilMs = Date.now() + ms;
  for (;;) {
    await becomeIdle();
    const next = [...meters.values()]
      .filter(({ alarmMs }) => alarmMs !== null && alarmMs <= untilMs)
      .toSorted((a, b) => a.alarmMs! - b.alarmMs!)[0];
    if (next === undefined) break;
    aheadMs = Math.max(aheadMs, next.alarmMs! - readClock());
    await stubOf(next).ring();
  }
  aheadMs = Math.max(aheadMs, untilMs - readClock());
}

/** Ends all objects, as after a long idle time. */
async function evictAll(): Promise<void> {
  await becomeIdle();
  for (const meter of meters.values().filter(({ isInMemory }) => isInMemory)) {
    // An object that ends breaks off its last call.
    await stubOf(meter)
      .evict()
      .catch(() => undefined);
    meter.isInMemory = false;
  }
}

async function readStored(): Promise<Stored> {
  const stored = { "R2 bytes": 0, "R2 objects": 0, "repository SQLite bytes": 0, "registry SQLite bytes": 0 };
  for (const meter of meters.values()) stored[`${meter.kind} SQLite bytes`] += await stubOf(meter).readSize();
  for (let cursor: string | undefined; ;) {
    const page = await (env as unknown as Env).BUCKET.list(cursor === undefined ? {} : { cursor });
    stored["R2 objects"] += page.objects.length;
    for (const { size } of page.objects) stored["R2 bytes"] += size;
    if (!page.truncated) return stored;
    ({ cursor } = page);
  }
}

/** Runs something that nobody is billed for. */
async function unbilled<T>(run: () => Promise<T>): Promise<T> {
  takeCursors();
  const before = bill;
  bill = newBill();
  try {
    return await run();
  } finally {
    takeCursors();
    bill = before;
  }
}

/** Answers the benchmark. */
async function control({ pathname, searchParams }: URL): Promise<Response> {
  switch (pathname) {
    case "/-/bill": {
      await becomeIdle();
      takeCursors();
      const taken: Bill = bill;
      bill = newBill();
      return Response.json(taken);
    }
    case "/-/advance":
      await advance(Number(searchParams.get("ms")));
      return Response.json({});
    case "/-/evict":
      await unbilled(evictAll);
      return Response.json({});
    case "/-/stored":
      return Response.json(await unbilled(readStored));
    default:
      return new Response("unknown", { status: 404 });
  }
}

/** Counts the work after the answer. */
function watch(context: ExecutionContext): ExecutionContext {
  return {
    waitUntil: (promise: Promise<unknown>): void => {
      promises += 1;
      const settled = (): void => void (promises -= 1);
      promise.then(settled, settled);
      context.waitUntil(promise);
    },
    passThroughOnException: () => context.passThroughOnException(),
    props: context.props,
  } as ExecutionContext;
}

export default {
  fetch(request: Request, bindings: Env, context: ExecutionContext): Response | Promise<Response> {
    countBucket();
    const url = new URL(request.url);
    if (url.pathname.startsWith("/-/")) return control(url);
    bill["Worker requests"] += 1;
    return app.fetch(request, bindings, watch(context));
  },
};
