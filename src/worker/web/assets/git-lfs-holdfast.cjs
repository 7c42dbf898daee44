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

// helper/git.ts
var import_node_child_process = require("node:child_process");
var import_node_stream = require("node:stream");
var LINES_PER_WRITE = 1e3;
function startGit(args) {
  const env = { ...process.env, GIT_FLUSH: "0" };
  const child = (0, import_node_child_process.spawn)("git", args, { stdio: ["pipe", "pipe", "inherit"], env });
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
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
async function readConfig(name, url) {
  try {
    return (await git(["config", "--get-urlmatch", name, url])).replace(/\n$/, "");
  } catch {
    return null;
  }
}

// helper/lfs-agent.ts
var import_node_readline = require("node:readline");

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
    return new Promise((resolve, reject) => {
      let sentBytes = 0;
      const fail = (error) => {
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
        response.on("error", fail);
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          if (status >= 300) sent(-sentBytes);
          resolve({ status, text: Buffer.concat(pieces).toString() });
        });
      });
      request.on("timeout", () => request.destroy(new Error("the server is silent")));
      request.on("error", fail);
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

// helper/lfs-servers.ts
var LfsServers = class {
  #transports = /* @__PURE__ */ new Map();
  /** Sends a request, again and again while the network or the server fails.
   * @param header as the server has told it
   * @param probe what to ask for when the connection ends while a body is sent: a server that
   * refuses it may answer too early to be heard
   * @returns the JSON of the answer; null: it has none
   * @throws ApiError, and the error of the network */
  async ask(method, address, header, body, sent = () => void 0, probe) {
    const url = new URL(address);
    const transport = await this.#open(url);
    const headers = { "User-Agent": "git-lfs-holdfast", Accept: "application/vnd.git-lfs+json", ...header };
    const send = async (...request) => {
      const [how, { pathname, search }, what] = request;
      return readAnswer(await transport.send(how, pathname + search, headers, what, { sent }));
    };
    return persist(async () => {
      try {
        return await send(method, url, body);
      } catch (error) {
        if (probe !== void 0 && !(error instanceof ApiError)) await send("GET", new URL(probe));
        throw error;
      }
    });
  }
  /** Ends the connections. */
  close() {
    for (const opening of this.#transports.values()) void opening.then((transport) => transport.close());
  }
  #open(url) {
    const opening = this.#transports.get(url.origin) ?? Transport.open(url);
    this.#transports.set(url.origin, opening);
    return opening;
  }
};

// helper/lfs-upload.ts
var import_node_crypto2 = require("node:crypto");
var import_node_fs4 = require("node:fs");
var import_promises2 = require("node:fs/promises");
var import_promises3 = require("node:timers/promises");

// helper/lfs-saved.ts
var import_node_crypto = require("node:crypto");
var import_node_fs3 = require("node:fs");
var import_node_path = require("node:path");

// helper/lock.ts
var import_node_fs2 = require("node:fs");
function lock(path) {
  for (let tries = 0; tries < 2; tries++) {
    try {
      const file = (0, import_node_fs2.openSync)(path, "wx");
      (0, import_node_fs2.writeFileSync)(file, String(process.pid));
      (0, import_node_fs2.closeSync)(file);
      return true;
    } catch {
      if (isAlive(Number((0, import_node_fs2.readFileSync)(path, "utf8")))) return false;
      (0, import_node_fs2.unlinkSync)(path);
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

// helper/lfs-saved.ts
var SavedLfsUpload = class _SavedLfsUpload {
  #path;
  /** Whether another process sends the same file, and this one has an upload of its own. */
  #isSpare;
  constructor(path, isSpare) {
    this.#path = path;
    this.#isSpare = isSpare;
  }
  /** @param href where uploads of the file begin */
  static async open(href) {
    const gitDir = (await git(["rev-parse", "--git-common-dir"])).trimEnd();
    const dir = (0, import_node_path.join)(gitDir, "holdfast", "lfs");
    (0, import_node_fs3.mkdirSync)(dir, { recursive: true });
    const path = (0, import_node_path.join)(
      dir,
      (0, import_node_crypto.createHash)("sha256").update(href).digest("hex").slice(0, 16),
    );
    return new _SavedLfsUpload(path, !lock(`${path}.lock`));
  }
  /** The id of the upload that was cut; null: there is none. */
  read() {
    if (this.#isSpare) return null;
    try {
      return (0, import_node_fs3.readFileSync)(this.#path, "utf8");
    } catch {
      return null;
    }
  }
  /** Notes the upload that is under way. */
  write(id) {
    if (this.#isSpare) return;
    (0, import_node_fs3.writeFileSync)(`${this.#path}.new`, id);
    (0, import_node_fs3.renameSync)(`${this.#path}.new`, this.#path);
  }
  /** Forgets it. */
  clear() {
    if (!this.#isSpare) (0, import_node_fs3.rmSync)(this.#path, { force: true });
  }
  /** Lets others go on with it. */
  close() {
    if (!this.#isSpare) (0, import_node_fs3.rmSync)(`${this.#path}.lock`, { force: true });
  }
};

// helper/lfs-upload.ts
var SIDE_BY_SIDE = 4;
var ROUNDS = 3;
var LOOK_MS = 100;
async function uploadFile(servers, file, sent) {
  const { path, sizeBytes, href, header } = file;
  const actualBytes = (await (0, import_promises2.stat)(path)).size;
  if (actualBytes !== sizeBytes) throw new Error(`${path} has ${actualBytes} bytes, not ${sizeBytes}`);
  if (!new URL(href).pathname.endsWith("/uploads"))
    return servers.ask("PUT", href, header, { path, sizeBytes }, sent).then(() => void 0);
  const saved = await SavedLfsUpload.open(href);
  try {
    await new PartUpload(servers, file, saved, sent).run();
  } finally {
    saved.close();
  }
}
var PartUpload = class {
  #servers;
  #file;
  #saved;
  #sent;
  constructor(servers, file, saved, sent) {
    this.#servers = servers;
    this.#file = file;
    this.#saved = saved;
    this.#sent = sent;
  }
  async run() {
    for (let round = 1; ; round++) {
      const status = await this.#open();
      if (status === null) break;
      try {
        await this.#sendMissing(status);
        await this.#complete(status.id);
        break;
      } catch (error) {
        if (round === ROUNDS || !(await this.#mayGoOn(error, status.id))) throw error;
      }
    }
    this.#saved.clear();
  }
  /** Goes on with the upload that was cut, or begins another.
   * @returns null: the server has the object */
  async #open() {
    const id = this.#saved.read();
    const status = id === null ? null : await this.#find(id);
    if (status !== null) return status;
    const begun = await this.#ask("POST", "", { json: { size: this.#file.sizeBytes } });
    if (begun.id === void 0) return null;
    this.#saved.write(begun.id);
    return begun;
  }
  /** @returns null: it has ended */
  async #find(id) {
    try {
      return await this.#ask("GET", `/${id}`);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }
  /** Whether a failed upload can be gone on with, or begun anew. */
  async #mayGoOn(error, id) {
    if (!(error instanceof ApiError)) return false;
    if (error.status === 404 || error.status === 409) {
      this.#saved.clear();
      return true;
    }
    return error.status === 422 && (await this.#find(id)) !== null;
  }
  async #sendMissing({ id, part_size: partBytes, parts }) {
    const { sizeBytes } = this.#file;
    const there = new Set(parts);
    const count = Math.ceil(sizeBytes / partBytes);
    const bytesOf = (part) => Math.min(partBytes, sizeBytes - (part - 1) * partBytes);
    for (const part of there) this.#sent(bytesOf(part));
    const missing = Array.from({ length: count }, (_, i) => i + 1).filter((part) => !there.has(part));
    let isStopped = false;
    const sendSome = async () => {
      for (let part = missing.shift(); part !== void 0 && !isStopped; part = missing.shift())
        await this.#sendPart(id, part, (part - 1) * partBytes, bytesOf(part));
    };
    const lines = Array.from({ length: SIDE_BY_SIDE }, async () => {
      try {
        await sendSome();
      } catch (error) {
        isStopped = true;
        throw error;
      }
    });
    await Promise.allSettled(lines);
    await Promise.all(lines);
  }
  async #sendPart(id, part, from, sizeBytes) {
    const { path } = this.#file;
    const hash = (0, import_node_crypto2.createHash)("sha256");
    for await (const piece of (0, import_node_fs4.createReadStream)(path, { start: from, end: from + sizeBytes - 1 }))
      hash.update(piece);
    const { href, header } = this.#file;
    const address = `${href}/${id}/${part}?sha256=${hash.digest("hex")}`;
    await this.#servers.ask("PUT", address, header, { path, from, sizeBytes }, this.#sent, `${href}/${id}`);
  }
  /** Has the server join the parts and read the object back, which takes several requests if it is
   * large. */
  async #complete(id) {
    for (;;) {
      const { checked } = await this.#ask("POST", `/${id}`);
      if (checked === void 0) return;
      await (0, import_promises3.setTimeout)(LOOK_MS);
    }
  }
  #ask(method, path, body) {
    return this.#servers.ask(method, this.#file.href + path, this.#file.header, body);
  }
};

// helper/lfs-agent.ts
var FAILED = 1;
async function serveClient(input, output) {
  const say = (message) =>
    void output.write(`${JSON.stringify(message)}
`);
  const servers = new LfsServers();
  for await (const line of (0, import_node_readline.createInterface)({ input, crlfDelay: Infinity })) {
    const message = JSON.parse(line);
    if (message.event === "terminate") break;
    if (message.event === "init") {
      const reason = `holdfast sends only uploads, not ${message.operation}s`;
      say(message.operation === "upload" ? {} : { error: { code: FAILED, message: reason } });
      continue;
    }
    const { oid, size, path, action } = message;
    const progress = new ToldProgress(oid, size, say);
    try {
      if (action === null) throw new Error("the server tells no address to send the file to");
      const file = { oid, sizeBytes: size, path, href: action.href, header: action.header ?? {} };
      await uploadFile(servers, file, (bytes) => progress.count(bytes));
      progress.finish();
      say({ event: "complete", oid });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      say({ event: "complete", oid, error: { code: FAILED, message: text } });
    }
  }
  servers.close();
}
var ToldProgress = class {
  #oid;
  #sizeBytes;
  #say;
  #sentBytes = 0;
  #toldBytes = 0;
  constructor(oid, sizeBytes, say) {
    this.#oid = oid;
    this.#sizeBytes = sizeBytes;
    this.#say = say;
  }
  count(bytes) {
    this.#sentBytes += bytes;
    this.#tell(Math.min(this.#sentBytes, this.#sizeBytes));
  }
  finish() {
    this.#tell(this.#sizeBytes);
  }
  #tell(bytesSoFar) {
    const bytesSinceLast = bytesSoFar - this.#toldBytes;
    if (bytesSinceLast <= 0) return;
    this.#toldBytes = bytesSoFar;
    this.#say({ event: "progress", oid: this.#oid, bytesSoFar, bytesSinceLast });
  }
};

// helper/lfs-main.ts
var USAGE = `git-lfs-holdfast: sends files of any size to a Holdfast server with Git LFS, in parts.

  git lfs-holdfast install [--local]     set it up, for all repositories or for this one
  git lfs-holdfast uninstall [--local]   take that back

From then on, git push uses it where a file is too large for one request. An upload
that was cut goes on where it was, by the same push, within a day.
`;
var SECTION = "lfs.customtransfer.holdfast";
async function run(args) {
  const [command, scope, ...more] = args;
  if (command === void 0 && !process.stdin.isTTY) return serveClient(process.stdin, process.stdout);
  if (command === void 0 || command === "--help" || command === "-h" || command === "help")
    return void process.stdout.write(USAGE);
  const isKnown = command === "install" || command === "uninstall";
  if (!isKnown || (scope !== void 0 && scope !== "--local") || more.length > 0)
    throw new Error(`${args.join(" ")} is no command of it
${USAGE}`);
  const where = scope ?? "--global";
  if (command === "uninstall") {
    await git(["config", where, "--remove-section", SECTION]);
    return;
  }
  await git(["config", where, `${SECTION}.path`, "git-lfs-holdfast"]);
  await git(["config", where, `${SECTION}.direction`, "upload"]);
}
run(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`git-lfs-holdfast: ${error instanceof Error ? error.message : String(error)}
`);
  process.exit(1);
});
