#!/usr/bin/env node
"use strict";
var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __copyProps = (to, from, except, desc) => {
  if ((from && typeof from === "object") || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, {
          get: () => from[key],
          enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable,
        });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (
  (target = mod != null ? __create(__getProtoOf(mod)) : {}),
  __copyProps(
    // If the importer is in node compatibility mode or this is not an ESM
    // file that has been converted to a CommonJS file using a Babel-
    // compatible transform (i.e. "__esModule" has not been set), then set
    // "default" to the CommonJS "module.exports" for node compatibility.
    isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
    mod,
  )
);

// helper/lfs.ts
var import_node_child_process2 = require("node:child_process");

// helper/git.ts
var import_node_child_process = require("node:child_process");
var import_node_readline = require("node:readline");
var import_node_stream = require("node:stream");
var LINES_PER_WRITE = 1e3;
function startGit(args) {
  const env = { ...process.env, GIT_FLUSH: "0" };
  const child = (0, import_node_child_process.spawn)("git", args, { stdio: ["pipe", "pipe", "inherit"], env });
  const ended = new Promise((resolve2, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve2();
      else reject(new Error(`git ${args[0]} ended with ${code ?? signal}`));
    });
  });
  ended.catch(() => void 0);
  child.stdin.on("error", () => void 0);
  return { stdin: child.stdin, stdout: child.stdout, ended, stop: () => child.kill() };
}
function writeLines({ stdin }, lines) {
  const texts = function* () {
    let held = [];
    for (const line of lines) {
      held.push(line);
      if (held.length < LINES_PER_WRITE) continue;
      yield `${held.join("\n")}
`;
      held = [];
    }
    if (held.length > 0)
      yield `${held.join("\n")}
`;
  };
  import_node_stream.Readable.from(texts()).pipe(stdin);
}
async function git(args, input = []) {
  const child = startGit(args);
  writeLines(child, input);
  const pieces = [];
  child.stdout.on("data", (piece) => pieces.push(piece));
  await child.ended;
  return Buffer.concat(pieces).toString();
}
async function* linesOf(child) {
  yield* (0, import_node_readline.createInterface)({ input: child.stdout, crlfDelay: Infinity });
  await child.ended;
}
async function* batchesOf(child) {
  let rest = "";
  for await (const piece of child.stdout) {
    const lines = (rest + piece.toString("latin1")).split("\n");
    rest = lines.pop();
    yield lines;
  }
  await child.ended;
}
async function readTotals() {
  const lines = (await git(["count-objects", "-v"])).split("\n").map((line) => line.split(": "));
  if (lines.some(([name]) => name === "alternate")) return null;
  const counts = new Map(lines.map(([name, value]) => [name, Number(value)]));
  const sum = (...names) => names.reduce((total, name) => total + counts.get(name), 0);
  return { objects: sum("count", "in-pack"), bytes: 1024 * sum("size", "size-pack") };
}
async function readConfig(name, url) {
  try {
    return (await git(["config", "--get-urlmatch", name, url])).replace(/\n$/, "");
  } catch {
    return null;
  }
}
async function readSize(name, fallback, most) {
  let text;
  try {
    text = await git(["config", "--type=int", "--default", String(fallback), "--get", name]);
  } catch {
    throw new Error(`${name} must be a number`);
  }
  if (Number(text) < 1) throw new Error(`${name} must be at least 1`);
  return Math.min(Number(text), most);
}
async function findLocal(oids) {
  const checked = await git(["cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer"], new Set(oids));
  return checked
    .split("\n")
    .filter((line) => line !== "" && !line.endsWith(" missing"))
    .map((line) => line.slice(0, line.indexOf(" ")));
}

// helper/lfs.ts
async function pointLfs(address2, isPush) {
  if (process.env["GIT_DIR"] === void 0) return;
  const settings = await readSettings();
  if (!settings.has("filter.lfs.process") || settings.has("lfs.url")) return;
  const url = `holdfast::${address2}`;
  const server = `${address2.replace(/\/+$/, "").replace(/\.git$/, "")}.git/info/lfs`;
  const uses = [...settings].flatMap(([key, values]) => {
    const [, remote2, kind] = values.includes(url) ? (/^(remote\..+)\.((?:push)?url)$/.exec(key) ?? []) : [];
    return remote2 === void 0 ? [] : [{ remote: remote2, key: `${remote2}.lfs${kind}` }];
  });
  for (const { remote: remote2, key } of uses) {
    const [present] = settings.get(key) ?? [];
    const isOwn = present === void 0 || settings.get(`${remote2}.holdfastlfs`)?.includes(present) === true;
    if (present === server || !isOwn) continue;
    await git(["config", "--local", key, server]);
    await git(["config", "--local", `${remote2}.holdfastlfs`, server]);
  }
  if (uses.length > 0 || !isPush) return;
  await git(["config", "--local", `remote.${url}.lfsurl`, server]);
  process.once("exit", () =>
    (0, import_node_child_process2.spawnSync)("git", ["config", "--local", "--remove-section", `remote.${url}`]),
  );
}
async function readSettings() {
  const settings = /* @__PURE__ */ new Map();
  for (const setting of (await git(["config", "--list", "-z"])).split("\0")) {
    const end = setting.indexOf("\n");
    const [key, value] = end < 0 ? [setting, ""] : [setting.slice(0, end), setting.slice(end + 1)];
    settings.set(key, [...(settings.get(key) ?? []), value]);
  }
  return settings;
}

// helper/credentials.ts
var Credentials = class _Credentials {
  #url;
  #header = null;
  /** What the helpers gave, in their own form; null: nothing. */
  #filled = null;
  constructor(url) {
    this.#url = url;
  }
  /** @param url of the repository */
  static async open(url) {
    const credentials = new _Credentials(url);
    const extra = await readConfig("http.extraHeader", url.href);
    const [, given] = /^authorization:\s*(.+)$/i.exec(extra ?? "") ?? [];
    if (given !== void 0) credentials.#header = given;
    else if (url.password !== "") credentials.#header = basic(decode(url.username), decode(url.password));
    return credentials;
  }
  /** The value of the header `Authorization`; null: there is none. */
  get header() {
    return this.#header;
  }
  /** The server has accepted the header. */
  async approve() {
    if (this.#filled === null) return;
    await git(["credential", "approve"], [this.#filled]);
    this.#filled = null;
  }
  /** The server has refused the header, or wants one.
   * @returns whether there is another one to try
   * @throws Error when the user gives none */
  async ask() {
    if (this.#filled !== null) {
      await git(["credential", "reject"], [this.#filled]);
      this.#filled = null;
    } else if (this.#header !== null) return false;
    const { protocol, host, pathname, username } = this.#url;
    const wanted = [`protocol=${protocol.slice(0, -1)}`, `host=${host}`, `path=${decode(pathname.slice(1))}`];
    if (username !== "") wanted.push(`username=${decode(username)}`);
    this.#filled = (await git(["credential", "fill"], [...wanted, ""])).replace(/\n+$/, "\n");
    const given = new Map(this.#filled.split("\n").map((line) => splitAt(line, "=")));
    this.#header = basic(given.get("username") ?? "", given.get("password") ?? "");
    return true;
  }
};
function splitAt(line, mark) {
  const at = line.indexOf(mark);
  return [line.slice(0, at), line.slice(at + mark.length)];
}
function basic(username, password) {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
function decode(part) {
  return decodeURIComponent(part);
}

// helper/transport.ts
var import_node_fs = require("node:fs");
var import_node_http = __toESM(require("node:http"), 1);
var import_node_https = __toESM(require("node:https"), 1);
var import_node_stream2 = require("node:stream");
var import_promises = require("node:timers/promises");
var TRIES = 12;
var FIRST_WAIT_MS = 500;
var LONGEST_WAIT_MS = 3e4;
var PASSING = /* @__PURE__ */ new Set([408, 429, 500, 502, 503, 504]);
var READ_BYTES = 256 * 1024;
var SILENCE_MS = 12e4;
var ApiError = class extends Error {
  status;
  /** The API's code, or "lfs"; null: something in between has answered. */
  code;
  /** Which kind of limit was exceeded, of those that are told apart: `LimitKind`. */
  limitKind;
  constructor(status, { code, message, limitKind }) {
    super(message);
    this.status = status;
    this.code = code;
    this.limitKind = limitKind;
  }
};
var Transport = class _Transport {
  #origin;
  #options;
  #agent;
  constructor(origin, options) {
    this.#origin = origin;
    this.#options = options;
    const { Agent } = origin.protocol === "https:" ? import_node_https.default : import_node_http.default;
    this.#agent = new Agent({ keepAlive: true, ...options });
  }
  /** @param url any of the server's */
  static async open(url) {
    const caFile = await readConfig("http.sslCAInfo", url.href);
    const verifies = (await readConfig("http.sslVerify", url.href)) !== "false";
    return new _Transport(url, {
      rejectUnauthorized: verifies,
      ...(caFile !== null && { ca: (0, import_node_fs.readFileSync)(caFile) }),
    });
  }
  /** Ends the connections. */
  close() {
    this.#agent.destroy();
  }
  /** Sends a request, once.
   * @param target path and query
   * @throws the error of the network */
  send(method, target, given, body, { sent = () => void 0, signal }) {
    const { protocol, hostname, port } = this.#origin;
    const json = body !== void 0 && "json" in body ? JSON.stringify(body.json) : null;
    const headers = { ...given };
    if (json !== null) headers["Content-Type"] = "application/json";
    if (body !== void 0 && json === null) headers["Content-Type"] = "application/octet-stream";
    if (body !== void 0 && "path" in body) headers["Content-Length"] = body.sizeBytes;
    return new Promise((resolve2, reject) => {
      let sentBytes = 0;
      const fail2 = (error) => {
        sent(-sentBytes);
        sentBytes = 0;
        reject(error);
      };
      const { request: open } = protocol === "https:" ? import_node_https.default : import_node_http.default;
      const settings = {
        hostname,
        port,
        method,
        path: target,
        headers,
        agent: this.#agent,
        timeout: SILENCE_MS,
        signal,
      };
      const request = open({ ...settings, ...this.#options }, (response) => {
        const pieces = [];
        response.on("data", (piece) => pieces.push(piece));
        response.on("error", fail2);
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          if (status >= 300) sent(-sentBytes);
          resolve2({ status, text: Buffer.concat(pieces).toString() });
        });
      });
      request.on("timeout", () => request.destroy(new Error("the server is silent")));
      request.on("error", fail2);
      if (body === void 0 || "json" in body) return void request.end(json ?? void 0);
      const bytes = openBody(body);
      if (bytes === null) return void request.end();
      bytes.on("data", (piece) => {
        sentBytes += piece.length;
        sent(piece.length);
      });
      (0, import_node_stream2.pipeline)(bytes, request, () => void 0);
    });
  }
};
function openBody(body) {
  if ("pieces" in body) return import_node_stream2.Readable.from(body.pieces);
  const { path, from = 0, sizeBytes } = body;
  if (sizeBytes === 0) return null;
  return (0, import_node_fs.createReadStream)(path, {
    highWaterMark: READ_BYTES,
    start: from,
    end: from + sizeBytes - 1,
  });
}
async function persist(attempt) {
  for (let tries = 1, waitMs = FIRST_WAIT_MS; ; tries++, waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === TRIES || (error instanceof ApiError && !PASSING.has(error.status))) throw error;
    }
    await (0, import_promises.setTimeout)(waitMs * (1 + Math.random()) * 0.5);
  }
}
function readAnswer({ status, text }) {
  const value = parse(text);
  if (status < 300 && value?.error === void 0) return value;
  if (value?.error !== void 0) throw new ApiError(status, value.error);
  if (typeof value?.message === "string") throw new ApiError(status, { code: "lfs", message: value.message });
  const [line = ""] = text
    .replaceAll(/<[^>]*>/g, " ")
    .trim()
    .split("\n");
  const message = `the server answered ${status}${line === "" ? "" : `: ${line.slice(0, 200)}`}`;
  throw new ApiError(status, { code: null, message });
}
function parse(text) {
  try {
    return text.trim() === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

// helper/api.ts
var Api = class _Api {
  #transport;
  /** `/api/repos/<owner>/<repo>`. */
  #base;
  #credentials;
  /** The question that is open, so that the user is asked once. */
  #asking = null;
  constructor(url, credentials, transport) {
    const path = url.pathname.replace(/\/+$/, "").replace(/\.git$/, "");
    this.#base = `/api/repos${path}`;
    this.#credentials = credentials;
    this.#transport = transport;
  }
  /** @param url of the repository */
  static async open(url) {
    return new _Api(url, await Credentials.open(url), await Transport.open(url));
  }
  /** Owner and name, as the URL has them. */
  get place() {
    const [owner = "", name = ""] = this.#base.slice("/api/repos/".length).split("/");
    return { owner: decodeURIComponent(owner), name: decodeURIComponent(name) };
  }
  /** Sends a request, again and again while the network or the server fails.
   * @param path below the repository's; with two slashes at the beginning, below `/api`
   * @param how what differs from other requests
   * @returns the JSON of the answer; null: it has none
   * @throws ApiError, and the error of the network */
  ask(method, path, body, how = {}) {
    const target = path.startsWith("//") ? `/api${path.slice(1)}` : this.#base + path;
    const attempt = async () => {
      for (;;) {
        const { header } = this.#credentials;
        const headers = { "User-Agent": "git-remote-holdfast", Accept: "application/json" };
        const authorized = header === null ? headers : { ...headers, Authorization: header };
        const answer = await this.#transport.send(method, target, authorized, body, how);
        if (answer.status === 401 && (await this.#askUser(header))) continue;
        if (answer.status !== 401) await this.#credentials.approve();
        return readAnswer(answer);
      }
    };
    return how.tries === 1 ? attempt() : persist(attempt);
  }
  /** Ends the connections. */
  close() {
    this.#transport.close();
  }
  /** @param refused the header that did not do */
  async #askUser(refused) {
    if (this.#credentials.header !== refused) return true;
    this.#asking ??= this.#credentials.ask().finally(() => (this.#asking = null));
    return this.#asking;
  }
};

// helper/packs.ts
var import_node_crypto = require("node:crypto");
var import_node_events = require("node:events");
var import_node_fs2 = require("node:fs");
var HEADER_BYTES = 12;
var RunningPack = class _RunningPack {
  #child;
  #pieces;
  /** Read, and not written yet. */
  #begun = Buffer.alloc(0);
  constructor(child) {
    this.#child = child;
    this.#pieces = child.stdout[Symbol.asyncIterator]();
  }
  /** Begins to pack what some objects reach and others do not. */
  static start(tips, had) {
    const args = ["pack-objects", "-q", "--thin", "--revs", "--stdout", "--delta-base-offset"];
    const child = startGit(args);
    writeLines(child, [...tips, "--not", ...had]);
    return new _RunningPack(child);
  }
  /** How many objects it has: known before they are packed.
   * @throws Error when git cannot pack them */
  async count() {
    while (this.#begun.length < HEADER_BYTES) {
      const piece = await this.#next();
      if (piece === null) throw new Error("git pack-objects made no pack");
      this.#begun = Buffer.concat([this.#begun, piece]);
    }
    return this.#begun.readUInt32BE(HEADER_BYTES - 4);
  }
  /** Writes it, as parts.
   * @throws Error when git cannot pack it, or the disk is full */
  async write(options) {
    let number = options.first;
    let writer = null;
    for (let piece = this.#begun; piece !== null; piece = await this.#next()) {
      for (let at = 0; at < piece.length;) {
        writer ??= new PartWriter(number, options.pathOf(number), options.sizes.next().value);
        const taken = piece.subarray(at, at + writer.leftBytes);
        await writer.add(taken);
        at += taken.length;
        if (writer.leftBytes > 0) continue;
        options.ready(await writer.end());
        writer = null;
        number += 1;
      }
    }
    if (writer !== null) options.ready(await writer.end());
  }
  /** Ends it. */
  stop() {
    this.#child.stop();
  }
  async #next() {
    const { value, done } = await this.#pieces.next();
    if (done !== true) return value;
    await this.#child.ended;
    return null;
  }
};
var PartWriter = class {
  #number;
  #file;
  #hash = (0, import_node_crypto.createHash)("sha256");
  #mostBytes;
  #sizeBytes = 0;
  constructor(number, path, mostBytes) {
    this.#number = number;
    this.#mostBytes = mostBytes;
    this.#file = (0, import_node_fs2.createWriteStream)(path);
  }
  /** Bytes that it may still get. */
  get leftBytes() {
    return this.#mostBytes - this.#sizeBytes;
  }
  async add(bytes) {
    this.#hash.update(bytes);
    this.#sizeBytes += bytes.length;
    if (!this.#file.write(bytes)) await (0, import_node_events.once)(this.#file, "drain");
  }
  async end() {
    this.#file.end();
    await (0, import_node_events.once)(this.#file, "close");
    return { number: this.#number, sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }
};

// helper/plan.ts
var FIRST_OBJECTS = 5e4;
var Plan = class _Plan {
  #steps;
  /** Those that were cut, and not taken yet. */
  #cut = [];
  #next = null;
  /** Of what was cut so far. */
  count = 0;
  objects = 0;
  bytes = 0;
  /** Whether that is all. */
  isWhole = false;
  constructor(steps) {
    this.#steps = steps;
  }
  /** Cuts what `wanted` reach and `had` do not.
   * @see planSteps */
  static cut(wanted, had, limits) {
    return new _Plan(planSteps(wanted, had, limits));
  }
  /** One step of all that `wanted` reach and `had` do not: its pack is begun, which tells how many
   * objects that is.
   * @param most bytes of it, and of its trees, at most
   * @throws Error when git cannot pack it */
  static async whole(wanted, had, most) {
    const pack = RunningPack.start(wanted, await findLocal(had));
    const { bytes, treeBytes } = most;
    const step = { tips: wanted, covers: [], objects: await pack.count(), bytes, treeBytes, pack };
    const plan = new _Plan(nothing());
    plan.#add(step);
    return plan;
  }
  /** Whether the whole history has at most so much. */
  async isWithin({ objects, bytes }) {
    const fits = () => this.objects <= objects && this.bytes <= bytes;
    while (fits() && (await this.#cutNext())) continue;
    return fits();
  }
  /** The first step that was not taken; null: there is none. */
  async first() {
    return this.#cut.length > 0 || (await this.#cutNext()) ? this.#cut[0] : null;
  }
  /** Takes the steps. */
  async *take() {
    while ((await this.first()) !== null) {
      const step = this.#cut.shift();
      if (this.#cut.length === 0 && !this.isWhole) void this.#begin();
      yield step;
    }
  }
  /** Cuts no more. */
  async stop() {
    for (const { pack } of this.#cut) pack?.stop();
    await this.#next?.catch(() => void 0);
    await this.#steps.return();
  }
  #begin() {
    if (this.#next !== null) return this.#next;
    this.#next = this.#steps.next();
    this.#next.catch(() => void 0);
    return this.#next;
  }
  async #cutNext() {
    if (this.isWhole) return false;
    const { value } = await this.#begin();
    this.#next = null;
    if (value === void 0) {
      this.isWhole = true;
      return false;
    }
    this.#add(value);
    return true;
  }
  #add(step) {
    this.#cut.push(step);
    this.count += 1;
    this.objects += step.objects;
    this.bytes += step.bytes;
  }
};
async function* nothing() {}
async function* planSteps(wanted, had, limits) {
  const known = await findLocal(had);
  const cut = new Cut(limits);
  for await (const lines of listObjects(wanted, known)) {
    for (const line of lines) {
      const [type, bytes, storedBytes, ...ids] = line.split(" ");
      const [oid, ...parents] = type === "commit" ? ids.filter((id) => id !== "") : [];
      if (oid !== void 0) cut.begin(oid, parents);
      if (type !== "tag") cut.count(Number(storedBytes), type === "tree" ? Number(bytes) : 0);
    }
    yield* cut.takeSteps();
  }
  cut.finish(await findOthers(wanted, new Set(known)));
  yield* cut.takeSteps();
}
async function* listObjects(wanted, known) {
  const order = ["--topo-order", "--reverse", "--in-commit-order"];
  const form = ["--no-object-names", "--no-commit-header", "--format=%H %H %P"];
  const list = startGit(["rev-list", "--objects", ...form, ...order, "--stdin"]);
  writeLines(list, [...wanted, ...known.map((oid) => `^${oid}`)]);
  const format = "%(objecttype) %(objectsize) %(objectsize:disk) %(rest)";
  const describe = startGit(["cat-file", `--batch-check=${format}`, "--buffer"]);
  list.stdout.pipe(describe.stdin);
  try {
    yield* batchesOf(describe);
    await list.ended;
  } finally {
    list.stop();
    describe.stop();
  }
}
async function findOthers(wanted, known) {
  const child = startGit(["cat-file", "--batch-check=%(objecttype) %(objectname)", "--buffer"]);
  writeLines(child, new Set(wanted));
  const others = [];
  for await (const line of linesOf(child)) {
    const [type, oid] = line.split(" ");
    if (type !== "commit" && !known.has(oid)) others.push(oid);
  }
  return others;
}
var newTally = () => ({ objects: 0, bytes: 0, treeBytes: 0 });
var sumOf = (one, other) => ({
  objects: one.objects + other.objects,
  bytes: one.bytes + other.bytes,
  treeBytes: one.treeBytes + other.treeBytes,
});
var Cut = class {
  #limits;
  #steps = [];
  /** Of the present step, at most. */
  #mostObjects = FIRST_OBJECTS;
  /** The present step's commits without a child so far, and the commits of earlier steps that its
   * own have as parents. */
  #tips = /* @__PURE__ */ new Set();
  #covers = /* @__PURE__ */ new Set();
  /** Commits of earlier steps without a child so far. */
  #frontier = /* @__PURE__ */ new Set();
  /** Of the present step before its newest commit, and of that commit. */
  #before = newTally();
  #newest = newTally();
  #commit = null;
  constructor(limits) {
    this.#limits = limits;
  }
  /** Begins a commit: what follows is counted as its own. */
  begin(oid, parents) {
    this.#addCommit();
    this.#commit = { oid, parents };
  }
  count(bytes, treeBytes) {
    this.#newest.objects += 1;
    this.#newest.bytes += bytes;
    this.#newest.treeBytes += treeBytes;
  }
  /** Takes the steps that are complete. */
  takeSteps() {
    const steps = this.#steps;
    this.#steps = [];
    return steps;
  }
  /** @param others what is to be sent besides commits */
  finish(others) {
    this.#addCommit();
    this.#close();
    if (others.length > 0) this.#steps.push({ ...newTally(), tips: others, covers: [], objects: others.length });
  }
  /** Adds the newest commit to the step, or to another one if it does not fit. */
  #addCommit() {
    if (this.#commit === null) return;
    if (this.#exceeds(sumOf(this.#before, this.#newest))) this.#close();
    const { oid, parents } = this.#commit;
    for (const parent of parents) {
      this.#tips.delete(parent);
      if (this.#frontier.delete(parent)) this.#covers.add(parent);
    }
    this.#tips.add(oid);
    this.#before = sumOf(this.#before, this.#newest);
    this.#newest = newTally();
    this.#commit = null;
  }
  #exceeds({ objects, bytes, treeBytes }) {
    const limits = this.#limits;
    return (
      objects > Math.min(limits.objects, this.#mostObjects) || bytes > limits.bytes || treeBytes > limits.treeBytes
    );
  }
  #close() {
    if (this.#tips.size === 0) return;
    this.#steps.push({ tips: [...this.#tips], covers: [...this.#covers], ...this.#before });
    this.#mostObjects *= 2;
    for (const tip of this.#tips) this.#frontier.add(tip);
    this.#tips = /* @__PURE__ */ new Set();
    this.#covers = /* @__PURE__ */ new Set();
    this.#before = newTally();
  }
};

// helper/progress.ts
var EVERY_MS = 250;
var MIB = 1024 * 1024;
var Progress = class {
  #isShown;
  #startMs = Date.now();
  #toldMs = 0;
  #sentBytes = 0;
  #title = "";
  #done = 0;
  #total = 0;
  constructor(isShown) {
    this.#isShown = isShown;
  }
  /** Shows how far a phase is.
   * @param total null: it is not known yet */
  show(title, done, total) {
    this.#title = title;
    this.#done = Math.min(done, total ?? Infinity);
    this.#total = total;
    this.#tell(total !== null && done >= total);
  }
  /** Counts bytes that were sent. */
  count(bytes) {
    this.#sentBytes += bytes;
    this.#tell(false);
  }
  #tell(isEnd) {
    const nowMs = Date.now();
    if (!this.#isShown || this.#total === 0 || (!isEnd && nowMs - this.#toldMs < EVERY_MS)) return;
    this.#toldMs = nowMs;
    const total = this.#total;
    const percent = total === null ? "" : `${`${Math.floor((100 * this.#done) / total)}`.padStart(3)}% `;
    const objects = total === null ? `${this.#done}` : `(${this.#done}/${total})`;
    const seconds = Math.max(1e-3, (nowMs - this.#startMs) / 1e3);
    const bytes = `${(this.#sentBytes / MIB).toFixed(2)} MiB | ${(this.#sentBytes / MIB / seconds).toFixed(2)} MiB/s`;
    const end = isEnd ? ", done.\n" : "\r";
    process.stderr.write(`${this.#title}: ${percent}${objects}, ${bytes}${end}`);
  }
};

// helper/saved.ts
var import_node_crypto2 = require("node:crypto");
var import_node_fs4 = require("node:fs");
var import_node_path = require("node:path");

// helper/lock.ts
var import_node_fs3 = require("node:fs");
function lock(path) {
  for (let tries = 0; tries < 2; tries++) {
    try {
      const file = (0, import_node_fs3.openSync)(path, "wx");
      (0, import_node_fs3.writeFileSync)(file, String(process.pid));
      (0, import_node_fs3.closeSync)(file);
      return true;
    } catch {
      if (isAlive(Number((0, import_node_fs3.readFileSync)(path, "utf8")))) return false;
      (0, import_node_fs3.unlinkSync)(path);
    }
  }
  return false;
}
function isAlive(pid) {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

// helper/saved.ts
var Saved = class _Saved {
  #dir;
  /** Another push uses the folder of this URL: nobody would look into this one again. */
  #isSpare;
  constructor(dir, isSpare) {
    this.#dir = dir;
    this.#isSpare = isSpare;
  }
  /** Opens the folder of a URL, or another one while a push from here to the same URL uses that. */
  static open(url) {
    const gitDir = (0, import_node_path.resolve)(process.env["GIT_DIR"] ?? ".git");
    const name = (0, import_node_crypto2.createHash)("sha256").update(url).digest("hex").slice(0, 16);
    for (const candidate of [name, `${name}-${process.pid}`]) {
      const dir = (0, import_node_path.join)(gitDir, "holdfast", candidate);
      (0, import_node_fs4.mkdirSync)(dir, { recursive: true });
      if (lock((0, import_node_path.join)(dir, "lock"))) return new _Saved(dir, candidate !== name);
    }
    throw new Error("the folder holdfast in the repository's directory cannot be locked");
  }
  /** What was under way when it was cut; null: nothing. */
  read() {
    try {
      return JSON.parse(
        (0, import_node_fs4.readFileSync)((0, import_node_path.join)(this.#dir, "upload.json"), "utf8"),
      );
    } catch {
      return null;
    }
  }
  /** Writes what is under way. */
  write(upload) {
    const path = (0, import_node_path.join)(this.#dir, "upload.json");
    (0, import_node_fs4.writeFileSync)(`${path}.new`, JSON.stringify(upload));
    (0, import_node_fs4.renameSync)(`${path}.new`, path);
  }
  pathOf(part) {
    return (0, import_node_path.join)(this.#dir, `${part}.part`);
  }
  /** Removes the files of parts. */
  drop(parts) {
    for (const { number } of parts) (0, import_node_fs4.rmSync)(this.pathOf(number), { force: true });
  }
  /** Removes the files of all parts, also of a pack that was not finished. */
  dropAll() {
    for (const name of (0, import_node_fs4.readdirSync)(this.#dir))
      if (name.endsWith(".part")) (0, import_node_fs4.rmSync)((0, import_node_path.join)(this.#dir, name));
  }
  /** Forgets everything. */
  clear() {
    (0, import_node_fs4.rmSync)(this.#dir, { recursive: true, force: true });
  }
  /** Lets others use the folder. */
  close() {
    if (this.#isSpare) this.clear();
    else (0, import_node_fs4.rmSync)((0, import_node_path.join)(this.#dir, "lock"), { force: true });
  }
};

// helper/sizes.ts
var MIB2 = 1024 * 1024;
var PLAIN_OBJECTS = 5e4;
var PLAIN_BYTES = 32 * MIB2;
var STEP_OBJECTS = 45e4;
var STEP_BYTES = 256 * MIB2;
var STEP_TREE_BYTES = 128 * MIB2;
var PART_BYTES = 16 * MIB2;
var FIRST_PART_BYTES = 1 * MIB2;
var PARTS_OF_A_SIZE = 200;
var Sizes = class _Sizes {
  plain;
  step;
  #partBytes;
  #mostPartBytes;
  constructor(plain, step, partBytes, mostPartBytes) {
    this.plain = plain;
    this.step = step;
    this.#partBytes = partBytes;
    this.#mostPartBytes = mostPartBytes;
  }
  /** @throws Error for a setting that is no number */
  static async read() {
    const most = Number.MAX_SAFE_INTEGER;
    const [plainObjects, plainBytes, stepObjects, stepBytes, partBytes] = await Promise.all([
      readSize("holdfast.plainObjects", PLAIN_OBJECTS, most),
      readSize("holdfast.plainBytes", PLAIN_BYTES, most),
      readSize("holdfast.stepObjects", STEP_OBJECTS, most),
      readSize("holdfast.stepBytes", STEP_BYTES, most),
      readSize("holdfast.partBytes", PART_BYTES, most),
    ]);
    return new _Sizes(
      { objects: plainObjects, bytes: plainBytes },
      { objects: stepObjects, bytes: stepBytes, treeBytes: STEP_TREE_BYTES },
      partBytes,
      most,
    );
  }
  /** The same, within the server's limits. A pack may be larger than what git has stored of it, and
   * have some objects that were not counted. */
  within(limits) {
    const step = {
      ...this.step,
      objects: Math.min(this.step.objects, Math.max(1, Math.floor(0.9 * limits.stepObjects))),
      bytes: Math.min(this.step.bytes, Math.max(1, Math.floor(limits.stepBytes / 2))),
    };
    return new _Sizes(this.plain, step, this.#partBytes, limits.partBytes);
  }
  /** Bytes of a body, at most. */
  get bodyBytes() {
    return this.#mostPartBytes;
  }
  /** Bytes of a pack's parts, one after the other: the last may have fewer. */
  *parts() {
    for (let before = 0; ; before++) {
      const usual = this.#partBytes * 2 ** Math.floor(before / PARTS_OF_A_SIZE);
      yield Math.min(usual, FIRST_PART_BYTES * 2 ** before, this.#mostPartBytes);
    }
  }
  /** Whether steps are cut alike. */
  isSame({ step }) {
    const { objects, bytes, treeBytes } = this.step;
    return step.objects === objects && step.bytes === bytes && step.treeBytes === treeBytes;
  }
  /** Half of what a step had that the server refused as too large; null: it was a single object. */
  smallerThan({ objects, bytes, treeBytes }) {
    const halve = (most) => Math.max(1, Math.floor(most / 2));
    const step = { objects: Math.floor(objects / 2), bytes: halve(bytes), treeBytes: halve(treeBytes) };
    const isSmaller = step.objects < this.step.objects || step.bytes < this.step.bytes;
    return step.objects < 1 || !isSmaller ? null : new _Sizes(this.plain, step, this.#partBytes, this.#mostPartBytes);
  }
};

// helper/steps.ts
var import_promises2 = require("node:timers/promises");

// helper/pack-body.ts
var import_node_fs5 = require("node:fs");
var READ_BYTES2 = 256 * 1024;
var JUDGED_AFTER_MS = 2e3;
var FAST_BYTES_PER_MS = 3e3;
var PackBody = class {
  /** The number of the part in which the pack goes on behind it. */
  from;
  #pathOf;
  #parts = [];
  #isWhole = false;
  #isGivenUp = false;
  /** Bytes that went out, and how long the line had to be waited for. */
  #sentBytes = 0;
  #waitedMs = 0;
  #wake = () => void 0;
  /** @param first the number of the pack's first part
   * @param sizes of the parts
   * @param mostBytes of the body */
  constructor(first, sizes, mostBytes, pathOf) {
    this.#pathOf = pathOf;
    this.from = first;
    for (let bytes = sizes.next().value; bytes <= mostBytes; bytes += sizes.next().value) this.from += 1;
  }
  /** Whether a part goes with it: if so, it is noted. */
  takes(part) {
    if (this.#isGivenUp || part.number >= this.from) return false;
    this.#parts.push(part);
    this.#wake();
    return true;
  }
  /** The pack is made, or cannot be made. */
  end() {
    this.#isWhole = true;
    this.#wake();
  }
  /** Takes no more.
   * @returns its parts, which must be sent otherwise */
  giveUp() {
    this.#isGivenUp = true;
    this.#wake();
    return this.#parts;
  }
  /** Whether it is not read to its end because the line is slow. */
  get isSlow() {
    return this.#waitedMs > JUDGED_AFTER_MS && this.#sentBytes < FAST_BYTES_PER_MS * this.#waitedMs;
  }
  /** Its bytes, as they are made.
   * @throws Error when the line is slow, or a file cannot be read */
  async *read() {
    for (let i = 0; ; i++) {
      while (i === this.#parts.length) {
        if (this.#isWhole || this.#isGivenUp || this.#parts.at(-1)?.number === this.from - 1) return;
        await new Promise((resolve2) => (this.#wake = resolve2));
      }
      const file = (0, import_node_fs5.createReadStream)(this.#pathOf(this.#parts[i].number), {
        highWaterMark: READ_BYTES2,
      });
      for await (const piece of file) {
        const startMs = performance.now();
        yield piece;
        this.#sentBytes += piece.length;
        this.#waitedMs += performance.now() - startMs;
        if (this.isSlow) throw new Error("the line is slow");
      }
    }
  }
};

// helper/sending.ts
var SIDE_BY_SIDE = 4;
var Sending = class {
  #api;
  #saved;
  #id;
  #count;
  /** The checksums of parts that the server has. */
  #there;
  #waiting = [];
  #sent = /* @__PURE__ */ new Map();
  #running = 0;
  #isStopped = false;
  /** @param id of the session
   * @param there the parts that the server has
   * @param count called with each number of bytes that went out */
  constructor(api, saved, id, there, count) {
    this.#api = api;
    this.#saved = saved;
    this.#id = id;
    this.#there = new Map(there.map(({ part, checksum }) => [part, checksum]));
    this.#count = count;
  }
  /** Sends a part when it is its turn, unless the server has it. */
  add(part) {
    const sent = this.#there.get(part.number) === part.sha256 ? Promise.resolve() : this.#send(part);
    sent.catch(() => void 0);
    this.#sent.set(part.number, sent);
  }
  /** Waits until parts that were added have arrived.
   * @throws the error of the first that could not be sent */
  async awaitParts(parts) {
    for (const { number } of parts) await this.#sent.get(number);
  }
  /** Sends nothing that has not begun. */
  stop() {
    this.#isStopped = true;
    for (const { drop } of this.#waiting.splice(0)) drop(new Error("the upload was given up"));
  }
  async #send(part) {
    await this.#turn(part);
    try {
      const body = { path: this.#saved.pathOf(part.number), sizeBytes: part.sizeBytes };
      const path = `/uploads/${this.#id}/parts/${part.number}?sha256=${part.sha256}`;
      await this.#api.ask("PUT", path, body, { sent: this.#count });
    } finally {
      this.#running -= 1;
      this.#next();
    }
  }
  #turn(part) {
    if (this.#isStopped) return Promise.reject(new Error("the upload was given up"));
    return new Promise((begin, drop) => {
      this.#waiting.push({ part, begin, drop });
      this.#next();
    });
  }
  #next() {
    if (this.#running >= SIDE_BY_SIDE) return;
    const next = this.#waiting.shift();
    if (next === void 0) return;
    this.#running += 1;
    next.begin();
  }
};

// helper/steps.ts
var AHEAD = 2;
var LOOK_MS = 1e3;
var MIN_INNER_PART_BYTES = 1024 * 1024;
var MOST_SENT_TIPS = 100;
var TooLargeStep = class extends Error {
  step;
  constructor(step, message) {
    super(message);
    this.step = step;
  }
};
var StepSender = class {
  #context;
  #sending;
  #stop = new AbortController();
  /** Those that have not been sent. */
  #bodies = /* @__PURE__ */ new Set();
  #isSlow = false;
  /** The highest number of a part that the server had before. */
  #lastThere;
  #last = Promise.resolve();
  #running = [];
  #indexed = 0;
  constructor(context, { parts }) {
    this.#context = context;
    const { api, saved, upload, progress } = context;
    this.#sending = new Sending(api, saved, upload.id, parts, (bytes) => progress.count(bytes));
    this.#lastThere = parts.reduce((last, { part }) => Math.max(last, part), 0);
  }
  /** Sends the steps that were packed before, then those of a plan.
   * @throws TooLargeStep, ApiError, Error */
  async send(plan) {
    const waiting = [...this.#context.upload.steps];
    const waitingObjects = waiting.reduce((sum, step) => sum + step.objects, 0);
    const show = () => {
      const total = plan.isWhole ? waitingObjects + plan.objects : null;
      this.#context.progress.show("Sending objects", this.#indexed, total);
    };
    show();
    try {
      for (const step of waiting) {
        for (const part of step.parts) this.#sending.add(part);
        this.#follow({ step, packing: Promise.resolve(step), body: null }, show);
      }
      for await (const step of plan.take()) {
        while (this.#running.length > AHEAD) await this.#running.shift();
        const underWay = this.#pack(step);
        this.#follow(underWay, show);
        await Promise.race([underWay.packing, this.#last.then(() => underWay.packing)]);
      }
      if (plan.count + waiting.length > 1)
        this.#context.say(`Sending ${waitingObjects + plan.objects} objects in ${plan.count + waiting.length} steps`);
      show();
      for (const one of this.#running) await one;
    } finally {
      this.#stop.abort();
      this.#sending.stop();
      await Promise.allSettled([...this.#running, this.#last]);
    }
  }
  /** Has a step indexed after those before it. */
  #follow({ step, packing, body }, show) {
    const before = this.#last;
    this.#last = (async () => {
      await before;
      if (body === null || !(await this.#sendBody(step, body))) {
        const packed = await packing;
        await this.#sending.awaitParts(packed.parts);
        await this.#index(packed);
      }
      this.#finish(await packing);
      show();
    })();
    this.#last.catch(() => this.#sending.stop());
    this.#running.push(this.#last);
  }
  #pack({ pack: begun, ...step }) {
    const { upload, saved, sizes, had } = this.#context;
    const from = upload.nextPart;
    const parts = [];
    const body = this.#openBody(step, from);
    const ready = (part) => {
      parts.push(part);
      upload.nextPart = part.number + 1;
      if (body?.takes(part) !== true) this.#sending.add(part);
    };
    const packing = (async () => {
      try {
        const pack = begun ?? RunningPack.start(step.tips, await findLocal(had));
        if (this.#stop.signal.aborted) pack.stop();
        this.#stop.signal.addEventListener("abort", () => pack.stop(), { once: true });
        const pathOf = (part) => saved.pathOf(part);
        await pack.write({ sizes: sizes.parts(), first: from, pathOf, ready });
      } catch (error) {
        saved.drop(parts);
        throw error;
      } finally {
        body?.end();
      }
      const packed = { ...step, parts };
      noteStep(had, step);
      upload.steps.push(packed);
      saved.write(upload);
      return packed;
    })();
    packing.catch(() => void 0);
    return { step, packing, body };
  }
  /** @param from the number of the step's first part
   * @returns null: its pack goes in parts */
  #openBody({ tips }, from) {
    const { sizes, saved } = this.#context;
    const isAlone = from > this.#lastThere && sizes.parts().next().value >= MIN_INNER_PART_BYTES;
    if (this.#isSlow || !isAlone || tips.length > MOST_SENT_TIPS) return null;
    const body = new PackBody(from, sizes.parts(), sizes.bodyBytes, (part) => saved.pathOf(part));
    this.#bodies.add(body);
    return body;
  }
  /** Sends what was to go as a body in parts. */
  #giveUp(body) {
    for (const part of body.giveUp()) this.#sending.add(part);
  }
  /** Sends a step's pack, its beginning as a body, and has it indexed meanwhile.
   * @returns false: it goes in parts, which the server indexes once they are all there */
  async #sendBody(step, body) {
    const { api, upload, progress } = this.#context;
    if (!this.#bodies.delete(body)) return false;
    try {
      const path = `/uploads/${upload.id}/packs?tips=${step.tips.join(",")}&from=${body.from}`;
      const sent = (bytes) => progress.count(bytes);
      await api.ask("POST", path, { pieces: body.read() }, { tries: 1, signal: this.#stop.signal, sent });
      return true;
    } catch (error) {
      this.#isSlow ||= body.isSlow;
      if (error instanceof ApiError && isTooLarge(error)) throw new TooLargeStep(step, error.message);
      if (error instanceof ApiError && isFinal(error)) throw error;
      const isCut = !(error instanceof ApiError) && !this.#isSlow && !this.#stop.signal.aborted;
      if (isCut && (await this.#isThere(step))) return true;
      this.#giveUp(body);
      if (this.#isSlow) {
        for (const other of this.#bodies) this.#giveUp(other);
        this.#bodies.clear();
      }
      return false;
    }
  }
  /** Whether the server has a step although its answer was lost: it may be done, or go on. */
  async #isThere(step) {
    const { api, upload } = this.#context;
    for (;;) {
      const status = await findUpload(api, upload.id);
      if (status === null) return false;
      if (status.underWay === null) return (await listNew(step.tips, await findLocal(status.tips))) === 0;
      await (0, import_promises2.setTimeout)(LOOK_MS);
    }
  }
  /** Has a step indexed whose parts are there. If the connection is cut, the server may have done
   * it, or go on. */
  async #index(step) {
    const { api, upload } = this.#context;
    const numbers = step.parts.map(({ number }) => number);
    for (;;) {
      try {
        await api.ask("POST", `/uploads/${upload.id}/steps`, { json: { parts: numbers, tips: step.tips } });
        return;
      } catch (error) {
        if (error instanceof ApiError && isTooLarge(error)) throw new TooLargeStep(step, error.message);
        const isUnsure = error instanceof ApiError && (error.status === 409 || error.status === 422);
        const status = isUnsure ? await findUpload(api, upload.id) : null;
        if (status === null) throw error;
        if (status.underWay !== null) await (0, import_promises2.setTimeout)(LOOK_MS);
        else if (numbers.every((number) => status.parts.some(({ part }) => part === number))) throw error;
        else if ((await listNew(step.tips, await findLocal(status.tips))) === 0) return;
        else throw error;
      }
    }
  }
  #finish(step) {
    const { upload, saved } = this.#context;
    upload.steps = upload.steps.filter((other) => other !== step);
    saved.write(upload);
    saved.drop(step.parts);
    this.#indexed += step.objects;
  }
};
function isTooLarge({ status, code, limitKind }) {
  return status === 413 && code !== null && limitKind !== "quota" && limitKind !== "object";
}
function isFinal({ status, code }) {
  const mayPass = [404, 408, 409, 429].includes(status) || status >= 500;
  return code !== null && !mayPass && code !== "invalid" && code !== "corrupt-pack";
}
function noteStep(had, { tips, covers }) {
  for (const oid of covers) had.delete(oid);
  for (const oid of tips) had.add(oid);
}
async function findUpload(api, id) {
  try {
    return await api.ask("GET", `/uploads/${id}`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
async function listNew(tips, known) {
  const args = ["rev-list", "--objects", "--no-object-names", "--max-count=1", "--stdin"];
  const lines = (await git(args, [...tips, ...known.map((oid) => `^${oid}`)])).split("\n");
  return lines[0] === "" ? 0 : 1;
}

// helper/upload.ts
async function sendLargePush(api, saved, push, sizes, progress, say) {
  const upload = new Upload(api, saved, push, sizes, progress, say);
  return upload.run();
}
var Upload = class {
  #api;
  #saved;
  #push;
  #progress;
  #say;
  #wanted;
  #sizes;
  #upload = { id: "", options: [], nextPart: 1, steps: [] };
  /** Null: it must be made anew, since some of it was sent, or its steps were too large. */
  #plan;
  /** The step that the server refused last as too large, and why; null: none. */
  #refused = null;
  /** What the server has, and what is packed for it: ids of commits, mostly. */
  #had = /* @__PURE__ */ new Set();
  constructor(api, saved, push, sizes, progress, say) {
    this.#api = api;
    this.#saved = saved;
    this.#push = push;
    this.#sizes = sizes;
    this.#progress = progress;
    this.#say = say;
    this.#plan = push.plan;
    this.#wanted = [...new Set(push.moves.flatMap((move) => move.new ?? []))];
  }
  async run() {
    for (;;) {
      const status = await this.#open();
      const sizes = this.#sizes.within(status.limits);
      if (!sizes.isSame(this.#sizes)) await this.#dropPlan();
      this.#sizes = sizes;
      try {
        await this.#sendSteps(status);
        break;
      } catch (error) {
        if (!(error instanceof TooLargeStep)) throw error;
        const smaller = this.#sizes.smallerThan(error.step);
        if (smaller === null) throw error;
        this.#refused = { tips: error.step.tips, reason: error.message };
        this.#sizes = smaller;
        await this.#dropPlan();
        this.#forgetSteps();
      }
    }
    return this.#complete();
  }
  /** Opens the session that was cut, or another one. */
  async #open() {
    const isCut = this.#upload.id === "";
    const known = isCut ? this.#saved.read() : this.#upload;
    if (known !== null) {
      const status2 = await findUpload(this.#api, known.id);
      const isSame = known.options.join("\n") === this.#push.options.join("\n");
      if (status2 !== null && !status2.complete && isSame) {
        this.#upload = known;
        if (status2.steps + known.steps.length > 0) await this.#dropPlan();
        await this.#resume(status2);
        if (isCut && status2.objects > 0) this.#say(`Going on with an upload: ${status2.objects} objects are there`);
        return status2;
      }
    }
    this.#saved.dropAll();
    const { moves, atomic, options } = this.#push;
    const status = await this.#begin({ refs: moves, atomic, options });
    this.#upload = { id: status.id, options, nextPart: 1, steps: [] };
    this.#saved.write(this.#upload);
    this.#had = new Set(this.#push.had);
    return status;
  }
  async #begin(wanted) {
    try {
      return await this.#api.ask("POST", "/uploads", { json: wanted });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
    await this.#createRepository();
    return this.#api.ask("POST", "/uploads", { json: wanted });
  }
  async #createRepository() {
    const { owner, name } = this.#api.place;
    try {
      await this.#api.ask("POST", "//repos", { json: { owner, name } });
      this.#say(`Created ${owner}/${name}`);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }
  /** Keeps of the packed steps those that are still to be sent: the server may have indexed some,
   * and the user may push something else now. */
  async #resume({ tips }) {
    const there = await findLocal([...this.#push.had, ...tips]);
    this.#had = /* @__PURE__ */ new Set([...this.#push.had, ...tips]);
    const { steps: packed } = this.#upload;
    const first = await firstIndex(packed, async (step) => (await listNew(step.tips, there)) > 0);
    this.#saved.drop(packed.slice(0, first).flatMap(({ parts }) => parts));
    this.#upload.steps = packed.slice(first);
    const isWanted = (step) => listNew(step.tips, this.#wanted).then((count) => count === 0);
    for (const step of this.#upload.steps) if (!(await isWanted(step))) return this.#forgetSteps();
    for (const step of this.#upload.steps) noteStep(this.#had, step);
    this.#saved.write(this.#upload);
  }
  async #sendSteps(status) {
    const plan = (this.#plan ??= Plan.cut(this.#wanted, [...this.#had], this.#sizes.step));
    try {
      const next = this.#refused === null ? null : await plan.first();
      if (next !== null && next.tips.join() === this.#refused?.tips.join()) throw new Error(this.#refused.reason);
      const context = {
        api: this.#api,
        saved: this.#saved,
        sizes: this.#sizes,
        progress: this.#progress,
        say: this.#say,
        upload: this.#upload,
        had: this.#had,
      };
      await new StepSender(context, status).send(plan);
    } finally {
      await this.#dropPlan();
    }
  }
  /** Drops the packed steps; their parts' numbers are not used again. */
  #forgetSteps() {
    this.#saved.drop(this.#upload.steps.flatMap(({ parts }) => parts));
    this.#upload.steps = [];
    this.#saved.write(this.#upload);
  }
  async #dropPlan() {
    await this.#plan?.stop();
    this.#plan = null;
  }
  async #complete() {
    const { moves, atomic } = this.#push;
    const { id } = this.#upload;
    const result = await this.#api.ask("POST", `/uploads/${id}/complete`, { json: { refs: moves, atomic } });
    if (result.refs.some(({ refused }) => refused === null)) {
      await this.#api.ask("DELETE", `/uploads/${id}`).catch(() => void 0);
      this.#saved.clear();
    }
    return new Map(result.refs.map(({ name, refused }) => [name, refused]));
  }
};
async function firstIndex(values, meets) {
  for (const [i, value] of values.entries()) if (await meets(value)) return i;
  return values.length;
}

// helper/push.ts
var WHOLE_TIPS = 1e4;
async function pushBatch(context, lines) {
  const moves = await readMoves(context, lines);
  const sizes = await Sizes.read();
  const wanted = moves.flatMap((move) => move.new ?? []);
  const isDry = context.options.get("dry-run") === "true" || wanted.length === 0;
  const had = [...new Set(context.refs.values())];
  const plan = isDry ? null : await planLarge(wanted, had, sizes);
  if (plan === null) {
    context.relay.send([...lines, ""]);
    return context.relay.block();
  }
  const isShown = context.options.get("progress") === "true" && context.options.get("verbosity") !== "0";
  const say = (line) => {
    if (context.options.get("verbosity") !== "0")
      process.stderr.write(`holdfast: ${line}
`);
  };
  const api = await Api.open(context.url);
  const saved = Saved.open(context.url.origin + context.url.pathname);
  process.once("exit", () => saved.close());
  try {
    const push = {
      moves,
      atomic: context.options.get("atomic") === "true",
      options: context.pushOptions.map(unquote),
      had,
      plan,
    };
    const refusals = await sendLargePush(api, saved, push, sizes, new Progress(isShown), say);
    return moves.map(({ name }) => {
      const refused = refusals.get(decode2(name)) ?? null;
      return refused === null ? `ok ${name}` : `error ${name} ${Buffer.from(refused).toString("latin1")}`;
    });
  } finally {
    api.close();
    saved.close();
  }
}
async function planLarge(wanted, had, sizes) {
  const totals = await readTotals();
  const isWithin = (most) => totals !== null && totals.objects <= most.objects && totals.bytes <= most.bytes;
  if (isWithin(sizes.plain)) return null;
  const whole = isWithin(sizes.step) && wanted.length <= WHOLE_TIPS ? await Plan.whole(wanted, had, sizes.step) : null;
  if (whole !== null && whole.objects > sizes.plain.objects) return whole;
  const cut = Plan.cut(wanted, had, sizes.step);
  const isPlain = await cut.isWithin(sizes.plain);
  if (isPlain || whole !== null) await cut.stop();
  if (isPlain) await whole?.stop();
  return isPlain ? null : (whole ?? cut);
}
async function readMoves({ refs }, lines) {
  const specs = lines.map((line) => /^push \+?([^:]*):(.*)$/.exec(line));
  const sources = specs.flatMap((spec) => spec?.[1] || []);
  const oids = sources.length === 0 ? [] : await resolveAll(sources);
  return specs.map((spec) => {
    const [, source, name] = spec;
    return { name: decode2(name), old: refs.get(name) ?? null, new: source === "" ? null : oids.shift() };
  });
}
async function resolveAll(sources) {
  const resolved = await git(["cat-file", "--batch-check=%(objectname)"], sources.map(decode2));
  const oids = resolved.trimEnd().split("\n");
  oids.forEach((oid, i) => {
    if (!/^[0-9a-f]{40}$/.test(oid)) throw new Error(`${sources[i]} names no object`);
  });
  return oids;
}
function decode2(text) {
  return Buffer.from(text, "latin1").toString();
}
function unquote(option) {
  if (!option.startsWith('"')) return decode2(option);
  return decode2(
    option.slice(1, -1).replaceAll(/\\([0-7]{3}|.)/g, (_, code) => {
      if (code.length === 3) return String.fromCharCode(Number.parseInt(code, 8));
      return { n: "\n", t: "	", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" }[code] ?? code;
    }),
  );
}

// helper/relay.ts
var import_node_child_process3 = require("node:child_process");
var LF = 10;
var LineReader = class {
  #stream;
  #pieces;
  #rest = Buffer.alloc(0);
  constructor(stream) {
    this.#stream = stream;
    this.#pieces = stream.iterator({ destroyOnReturn: false });
  }
  /** The next line without its LF; null: the stream has ended. Byte strings. */
  async next() {
    for (let from = 0; ;) {
      const end = this.#rest.indexOf(LF, from);
      if (end >= 0) {
        const line = this.#rest.toString("latin1", 0, end);
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      from = this.#rest.length;
      const piece = await this.#pieces.next();
      if (piece.done === true) return null;
      this.#rest = Buffer.concat([this.#rest, piece.value]);
    }
  }
  /** Lines up to an empty one, or to the end. */
  async block() {
    const lines = [];
    for (let line = await this.next(); line !== null && line !== ""; line = await this.next()) lines.push(line);
    return lines;
  }
  /** Passes on everything that follows. */
  async pipe(into) {
    if (this.#rest.length > 0) into.write(this.#rest);
    await this.#pieces.return?.();
    await new Promise((resolve2) => {
      this.#stream.on("end", resolve2).pipe(into);
    });
  }
};
var Relay = class {
  #child;
  #lines;
  /** @param remote its name, or the URL
   * @param url of the repository */
  constructor(remote2, url) {
    const scheme = url.slice(0, url.indexOf(":"));
    this.#child = (0, import_node_child_process3.spawn)("git", [`remote-${scheme}`, remote2, url], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdin.on("error", () => void 0);
    this.#child.on("close", (code) => {
      if (code !== 0) process.exit(code ?? 1);
    });
    this.#lines = new LineReader(this.#child.stdout);
  }
  /** Sends lines. */
  send(lines) {
    this.#child.stdin.write(
      Buffer.from(
        lines
          .map(
            (line) => `${line}
`,
          )
          .join(""),
        "latin1",
      ),
    );
  }
  /** Reads a line of its answer. */
  async line() {
    return (await this.#lines.next()) ?? "";
  }
  /** Reads its answer up to an empty line. */
  block() {
    return this.#lines.block();
  }
  /** Joins both ways until the connection ends. */
  async join(input) {
    void input.pipe(this.#child.stdin);
    await this.#lines.pipe(process.stdout);
  }
  /** Ends it: an empty line is its last command. */
  end() {
    this.#child.stdin.end("\n");
  }
};

// helper/main.ts
function fail(error) {
  process.stderr.write(`fatal: ${error instanceof Error ? error.message : String(error)}
`);
  process.exit(128);
}
function write(lines) {
  process.stdout.write(
    Buffer.from(
      lines
        .map(
          (line) => `${line}
`,
        )
        .join(""),
      "latin1",
    ),
  );
}
async function run(remote2, address2) {
  if (!/^https?:\/\//.test(address2))
    throw new Error(`holdfast:: must be followed by an http or https URL, not ${address2}`);
  const input = new LineReader(process.stdin);
  const relay = new Relay(remote2.includes("::") ? address2 : remote2, address2);
  const context = {
    url: new URL(address2),
    relay,
    refs: /* @__PURE__ */ new Map(),
    options: /* @__PURE__ */ new Map(),
    pushOptions: [],
  };
  for (let line = await input.next(); line !== null && line !== ""; line = await input.next()) {
    const [command = ""] = line.split(" ", 1);
    if (command === "push") {
      write([...(await pushBatch(context, [line, ...(await input.block())])), ""]);
      continue;
    }
    if (/^(?:list|connect|stateless-connect)$/.test(command)) await pointLfs(address2, line === "list for-push");
    relay.send([line]);
    if (command === "option") {
      const answer = await relay.line();
      note(context, line, answer);
      write([answer]);
    } else if (command === "connect" || command === "stateless-connect") {
      const answer = await relay.line();
      write([answer]);
      if (answer === "") return relay.join(input);
    } else {
      if (command === "fetch") relay.send([...(await input.block()), ""]);
      const answer = await relay.block();
      if (command === "list") noteRefs(context, answer);
      write([...answer, ""]);
    }
  }
  relay.end();
}
function note({ options, pushOptions }, line, answer) {
  if (answer !== "ok") return;
  const [, name = "", value = ""] = /^option (\S+) ?(.*)$/.exec(line) ?? [];
  if (name === "push-option") pushOptions.push(value);
  else options.set(name, value);
}
function noteRefs({ refs }, lines) {
  refs.clear();
  for (const line of lines) {
    const [, oid, name] = /^([0-9a-f]{40}) (\S+)/.exec(line) ?? [];
    if (oid !== void 0 && name !== void 0) refs.set(name, oid);
  }
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(130));
var [, , remote, address = remote] = process.argv;
if (remote === void 0 || address === void 0)
  fail(new Error("git runs this: git push holdfast::https://host/owner/repo"));
run(remote, address).catch(fail);
