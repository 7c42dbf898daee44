/** Pushes hostile histories, and sends every possible request about each: every route of the API,
 * and every kind of fetch. */
import { writeFileSync } from "node:fs";
import { inspect } from "node:util";
import { DEFAULT_LIMITS } from "../../src/format/configured-limits.ts";
import type { OpenApiDocument, Operation } from "../../src/web/open-api.ts";
import { askApi } from "./api.ts";
import type { HostileHistory } from "./hostile-draft.ts";
import { makeHostileHistory } from "./hostile-history.ts";
import { IsolateWatch } from "./isolate-memory.ts";
import { makeTree, packOf, makeCommit } from "./pack-builder.ts";
import { readUsage } from "./process.ts";
import { Random } from "./random.ts";
import { sendPush } from "./raw-push.ts";
import { findFreePort, type Server, startServer } from "./server.ts";
import { encodeRequest } from "./transcript.ts";

/** Time limit of a response: by the clock, or by the server's CPU if the machine has other work.
 * Waiting without CPU is limited too. */
const BOUND_SECONDS = 2;
const WAIT_SECONDS = 10;

/** Memory limit of a response: by the rise of the process, or by all that the isolate has in its
 * heap and buffers while its garbage is collected whenever it yields. The process also holds garbage
 * that V8 has yet to collect, and R2's simulator, through which a job writes thousands of files. */
const BOUND_BYTES = 64 * 1024 * 1024;

/** Bytes of an archive that are read, and for how long: it may be endless. */
const READ_BYTES = 1024 * 1024;
const READ_MS = 500;

const GIVE_UP_MS = 120_000;

/** Runs all due jobs, so its duration is not limited. It must still succeed. */
const UNTIMED = new Set(["post /repos/{owner}/{repo}/maintenance"]);

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
const PERSON = { name: "Ada", email: "ada@example.com" };

/** A request with a wrong response. */
export interface Misanswer {
  readonly seed: number;
  readonly shape: string;
  readonly request: string;
  readonly reason: string;
}

/** The cost of a request. */
export interface Cost {
  readonly request: string;
  readonly shape: string;
  readonly seed: number;
  readonly seconds: number;
  readonly bytes: number;
}

/** How a request was answered, and what that took. */
interface Answer {
  /** Empty: well. */
  readonly reason: string;
  /** CPU, or the clock if that is less. */
  readonly seconds: number;
  readonly wall: number;
  readonly bytes: number;
}

interface Request {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Expected statuses; default: any below 500. */
  readonly statuses?: readonly string[];
  /** Expected content of the response. */
  readonly answer?: RegExp;
}

/** Runs hostile histories against one server. */
export class HostileRun {
  readonly #server: Server;
  readonly #inspectorPort: number;
  readonly #document: OpenApiDocument;
  readonly misanswers: Misanswer[] = [];
  /** The most expensive request of each name. */
  readonly dearest = new Map<string, Cost>();
  /** The request that took longest (of those with a limit), and the one that took most memory. */
  slowest: Cost | null = null;
  largest: Cost | null = null;
  #longestWaitSeconds = 0;

  private constructor(server: Server, inspectorPort: number, document: OpenApiDocument) {
    this.#server = server;
    this.#inspectorPort = inspectorPort;
    this.#document = document;
  }

  /** Starts a server with a second repository, which is requested meanwhile. */
  static async open(): Promise<HostileRun> {
    const inspectorPort = await findFreePort();
    // As deployed, jobs make way for requests: otherwise their work would count for whoever asks.
    const vars = { LIMITS: JSON.stringify({ quietMs: DEFAULT_LIMITS.quietMs }) };
    const server = await startServer({ inspectorPort, vars });
    const { body } = await askApi<OpenApiDocument>(server, "/openapi.json");
    const root = makeTree();
    const commit = makeCommit(root);
    const commands = [{ name: "refs/heads/main", new: commit.oid }];
    await sendPush(`${server.url}/calm/repo.git`, { commands, pack: packOf(root, commit) });
    return new HostileRun(server, inspectorPort, body);
  }

  /** Ends the server. */
  close(): Promise<void> {
    return this.#server.close();
  }

  /** Pushes the history of a seed and sends all requests about it, while another repository is
   * served. */
  async run(seed: number): Promise<void> {
    const history = makeHostileHistory(new Random(seed));
    let ended = false;
    const others = (async () => {
      while (!ended) {
        await this.#measureCalm(seed, history);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    const name = `h${seed}`;
    const ask = (request: Request): Promise<void> => this.#ask(seed, history, request);
    await ask(toPush(name, history));
    for (const request of toFetches(name, history)) await ask(request);
    for (const request of this.#toCalls(name, history)) await ask(request);
    ended = true;
    await others;
  }

  /** Longest response time of the other repository. */
  get longestWaitSeconds(): number {
    return this.#longestWaitSeconds;
  }

  async #measureCalm(seed: number, { shape }: HostileHistory): Promise<void> {
    const startMs = performance.now();
    const cpuBefore = readUsage(this.#server.pid).cpuSeconds;
    const { status } = await fetch(`${this.#server.url}/calm/repo.git/info/refs?service=git-upload-pack`);
    const wall = (performance.now() - startMs) / 1000;
    const seconds = Math.min(wall, readUsage(this.#server.pid).cpuSeconds - cpuBefore);
    this.#longestWaitSeconds = Math.max(this.#longestWaitSeconds, seconds);
    if (status === 200 && seconds <= BOUND_SECONDS && wall <= WAIT_SECONDS) return;
    const reason = `others waited ${seconds.toFixed(1)} s (${wall.toFixed(1)} s by the clock; ${status})`;
    this.misanswers.push({ seed, shape, request: "GET of another repository", reason });
  }

  async #ask(seed: number, { shape }: HostileHistory, request: Request): Promise<void> {
    const isUntimed = UNTIMED.has(request.name);
    const { seconds, wall, ...answer } = await this.#send(request, isUntimed);
    let { reason, bytes } = answer;
    if (!isUntimed && (seconds > BOUND_SECONDS || wall > WAIT_SECONDS))
      reason += ` took ${seconds.toFixed(1)} s (${wall.toFixed(1)} s by the clock)`;
    if (!isUntimed && bytes > BOUND_BYTES) bytes = Math.min(bytes, (await this.#send(request, true)).bytes);
    if (reason === "" && bytes > BOUND_BYTES) reason = `took ${Math.round(bytes / 2 ** 20)} MiB`;
    if (reason !== "") this.misanswers.push({ seed, shape, request: `${request.method} ${request.path}`, reason });
    this.#note(request.name, { request: `${request.method} ${request.path}`, shape, seed, seconds, bytes });
  }

  /** Sends a request and reads the response.
   * @param isCollected whether to collect the isolate's garbage all the time */
  async #send(request: Request, isCollected: boolean): Promise<Answer> {
    const { pid, url } = this.#server;
    // Resets the peak of memory.
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    const before = readUsage(pid);
    const watch = isCollected ? await IsolateWatch.begin(this.#inspectorPort, "holdfast") : null;
    const startMs = performance.now();
    let reason = "";
    try {
      const response = await fetch(url + request.path, {
        method: request.method,
        headers: request.headers ?? {},
        ...(request.body === undefined ? {} : { body: request.body as string | Uint8Array<ArrayBuffer> }),
        signal: AbortSignal.timeout(GIVE_UP_MS),
        redirect: "manual",
      });
      const text = request.path.includes("/archive/") ? await readSome(response) : await response.text();
      const fits = request.statuses?.includes(String(response.status)) ?? response.status < 500;
      if (!fits || response.status >= 500 || request.answer?.test(text) === false)
        reason = `status ${response.status}: ${text.slice(0, 200)}`;
    } catch (error) {
      reason = inspect(error);
    }
    const wall = (performance.now() - startMs) / 1000;
    const after = readUsage(pid);
    const isolateBytes = (await watch?.end()) ?? Infinity;
    return {
      reason,
      wall,
      seconds: Math.min(wall, after.cpuSeconds - before.cpuSeconds),
      bytes: Math.min(isolateBytes, Math.max(0, after.peakMemoryBytes - before.memoryBytes)),
    };
  }

  #note(name: string, cost: Cost): void {
    const { seconds, bytes } = cost;
    if ((this.dearest.get(name)?.seconds ?? -1) < seconds) this.dearest.set(name, cost);
    if (!UNTIMED.has(name) && (this.slowest?.seconds ?? -1) < seconds) this.slowest = cost;
    if ((this.largest?.bytes ?? -1) < bytes) this.largest = cost;
  }

  /** One or more requests for each route of the document; deletions come last. */
  #toCalls(name: string, history: HostileHistory): Request[] {
    const requests: Request[] = [];
    for (const [path, methods] of Object.entries(this.#document.paths ?? {})) {
      for (const method of METHODS) {
        const operation = (methods as Record<string, Operation>)[method];
        if (operation === undefined) continue;
        const statuses = Object.keys(operation.responses ?? {});
        for (const filled of fillPaths(path, history, name)) {
          for (const query of method === "get" ? queriesOf(operation, history, name) : [""]) {
            requests.push({
              name: `${method} ${path}${query.replaceAll(/=[^&]*/g, "")}`,
              method: method.toUpperCase(),
              path: `/api${filled}${query}`,
              statuses,
              ...bodyOf(`${method} ${path}`, operation, history),
            });
          }
        }
      }
    }
    const rank = ({ method, path }: Request): number => (method === "DELETE" ? 1_000 - path.length : 0);
    return requests.toSorted((a, b) => rank(a) - rank(b));
  }
}

async function readSome(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const endMs = performance.now() + READ_MS;
  const reader = response.body?.getReader();
  while (reader !== undefined && length <= READ_BYTES && performance.now() < endMs) {
    const step = await Promise.race([
      reader.read(),
      new Promise<null>((resolve) => setTimeout(resolve, READ_MS, null)),
    ]);
    if (step === null || step.done) break;
    pieces.push(step.value);
    length += step.value.length;
  }
  await reader?.cancel();
  return Buffer.concat(pieces).toString();
}

function toPush(name: string, { refs, pack }: HostileHistory): Request {
  const lines = [...refs].map(([ref, oid], i) => {
    const line = `${"0".repeat(40)} ${oid} ${ref}${i === 0 ? "\0 report-status" : ""}`;
    return (line.length + 4).toString(16).padStart(4, "0") + line;
  });
  return {
    name: "push",
    method: "POST",
    path: `/hostile/${name}.git/git-receive-pack`,
    headers: { "content-type": "application/x-git-receive-pack-request" },
    body: Buffer.concat([Buffer.from(`${lines.join("")}0000`), pack]),
    statuses: ["200"],
    answer: /unpack ok/,
  };
}

/** Fetches of every kind in the protocol. */
function toFetches(name: string, { refs, oids }: HostileHistory): Request[] {
  const main = refs.get("refs/heads/main")!;
  const fork = refs.get("refs/heads/fork")!;
  const all = [...new Set(refs.values())].slice(0, 2_000).map((oid) => `want ${oid}`);
  const fetchAs = (kind: string, ...lines: readonly string[]): Request => ({
    name: `fetch ${kind}`,
    method: "POST",
    path: `/hostile/${name}.git/git-upload-pack?${encodeURIComponent(kind)}`,
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: new Uint8Array(encodeRequest("command=fetch", "delim", "ofs-delta", ...lines, "done", "flush")),
    statuses: ["200"],
  });
  const old = encodeRequest(`want ${main} ofs-delta include-tag no-progress`, ...all, "flush", "done");
  return [
    { name: "ls-refs", method: "GET", path: `/hostile/${name}.git/info/refs?service=git-upload-pack` },
    fetchAs("clone", "include-tag", ...all),
    fetchAs("one branch with tags", "include-tag", `want ${main}`),
    fetchAs("shallow", "deepen 1", `want ${main}`),
    fetchAs("deeper", "deepen 2", `shallow ${main}`, `want ${main}`),
    fetchAs("no blobs", "filter blob:none", ...all),
    fetchAs("no trees", "filter tree:0", ...all),
    fetchAs("few trees", "filter tree:3", `want ${main}`),
    fetchAs("sparse", `filter sparse:oid=${oids.blob ?? main}`, `want ${main}`),
    fetchAs("increment", "thin-pack", `want ${main}`, `have ${fork}`),
    fetchAs("shallow increment", "thin-pack", `shallow ${fork}`, `want ${main}`, `have ${fork}`),
    ...Object.entries(oids).map(([type, oid]) => fetchAs(`a ${type}`, `want ${oid}`)),
    {
      name: "fetch v0",
      method: "POST",
      path: `/hostile/${name}.git/git-upload-pack`,
      headers: { "content-type": "application/x-git-upload-pack-request" },
      body: new Uint8Array(old),
      statuses: ["200"],
    },
  ];
}

/** The paths of a route with its parameters filled in. */
function fillPaths(path: string, { directory, file, oids }: HostileHistory, name: string): string[] {
  const kind = /\/git\/(\w+)\//.exec(path)?.[1] as keyof typeof oids | undefined;
  const values: Record<string, readonly (string | undefined)[]> = {
    owner: ["hostile"],
    repo: [name],
    id: ["current"],
    name: path.includes("/tags/") ? ["top"] : path.includes("/refs/") ? ["heads/new"] : ["fork"],
    ref: ["main"],
    path: path.includes("/raw/") ? [file, `${directory}/${file}`.slice(0, 3_000)] : [file],
    oid: [kind === undefined ? undefined : (oids[kind] ?? "0".repeat(40))],
    range: ["fork...main", "main..fork"],
    file: ["main.tar", "main.zip", "main.tar.gz"],
  };
  let paths = [path];
  for (const [, parameter] of path.matchAll(/\{(\w+)\}/g)) {
    const choices = values[parameter!];
    if (choices === undefined) throw new Error(`${path}: no value for {${parameter}}`);
    const parts = choices.map((value) => String(value).split("/").map(encodeURIComponent).join("/"));
    paths = paths.flatMap((one) => parts.map((part) => one.replace(`{${parameter}}`, part)));
  }
  return paths;
}

/** The queries for a route: none, and one for each of its parameters. */
function queriesOf(operation: Operation, { directory, file }: HostileHistory, name: string): string[] {
  const known: Record<string, readonly string[]> = {
    owner: ["hostile"],
    repository: [name],
    base: ["main"],
    head: ["fork"],
    pattern: ["line.*content"],
    ref: ["main", "top"],
    path: [directory, file],
    follow: [`true&path=${encodeURIComponent(file)}`],
    lastCommit: ["true"],
    author: ["Ada"],
    firstParent: ["true"],
    since: ["2020-01-01T00:00:00Z"],
    format: ["diff"],
    per: ["day"],
    lines: ["1-10"],
    context: ["3"],
    parent: ["1"],
  };
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  const required = parameters.filter((parameter) => parameter.required === true);
  const pair = (key: string, value: string): string =>
    `${key}=${key === "follow" ? value : encodeURIComponent(value)}`.slice(0, 6_000);
  const first = required.map(({ name: key }) => pair(key, known[key]![0]!)).join("&");
  const others = parameters
    .filter((parameter) => parameter.required !== true)
    .flatMap(({ name: key }) => (known[key] ?? []).map((value) => pair(key, value)));
  const join = (...parts: string[]): string => {
    const query = parts.filter((part) => part !== "").join("&");
    return query === "" ? "" : `?${query}`;
  };
  return [join(first), ...others.map((other) => join(first, other))];
}

/** Request bodies, by method and path. */
const BODIES: Readonly<Record<string, (history: HostileHistory) => unknown>> = {
  "post /repos": () => ({ owner: "hostile", name: "main" }),
  "patch /repos/{owner}/{repo}": () => ({ description: "hostile" }),
  "post /tokens": ({ shape }) => ({ owner: "hostile", name: shape.slice(0, 50), right: "read" }),
  "put /repos/{owner}/{repo}/quota": () => ({ maxBytes: null, maxObjects: null }),
  "put /owners/{owner}/quota": () => ({ maxBytes: null, maxObjects: null }),
  "post /repos/{owner}/{repo}/commits": ({ directory }) => ({
    branch: "main",
    message: "Change",
    author: PERSON,
    operations: [{ op: "put", path: `${directory === "" ? "" : `${directory}/`}new`, content: "new\n" }],
  }),
  "post /repos/{owner}/{repo}/branches": () => ({ name: "new", startPoint: "main" }),
  "patch /repos/{owner}/{repo}/branches/{name}": () => ({ target: "main", force: true }),
  "post /repos/{owner}/{repo}/tags": () => ({ name: "new", target: "top", message: "New", tagger: PERSON }),
  "patch /repos/{owner}/{repo}/tags/{name}": () => ({ target: "main", force: true }),
  "put /repos/{owner}/{repo}/refs/{name}": () => ({ target: "main", force: true }),
  "put /repos/{owner}/{repo}/protected-refs": () => ({ rules: [{ pattern: "refs/heads/none", noForce: true }] }),
  "post /repos/{owner}/{repo}/merge": () => ({ base: "main", head: "fork", message: "Merge", author: PERSON }),
  "post /repos/{owner}/{repo}/cherry-pick": () => ({ branch: "main", commit: "fork", committer: PERSON }),
  "post /repos/{owner}/{repo}/revert": () => ({ branch: "main", commit: "main", committer: PERSON, author: PERSON }),
  "put /repos/{owner}/{repo}/worktrees": () => ({ branches: ["main", "fork"] }),
};

function bodyOf(route: string, operation: Operation, history: HostileHistory): Pick<Request, "headers" | "body"> {
  const [type] = Object.keys(operation.requestBody?.content ?? {});
  if (type === undefined) return {};
  const headers = { "content-type": type };
  if (type !== "application/json") return { headers, body: history.pack };
  const make = BODIES[route];
  if (make === undefined) throw new Error(`${route}: it takes something, and nobody said what`);
  return { headers, body: JSON.stringify(make(history)) };
}
