/** The Worker with meters, on the real runtime. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Limits } from "../../../src/base/format/configured-limits.ts";
import { PROJECT } from "../build.ts";
import { type Server, startServer } from "../server.ts";
import { makeTempDir } from "../temp-dir.ts";
import type { Bill, Stored } from "./bill.ts";

/** The admin token of the server. */
const ADMIN_TOKEN = "benchmark";

/** A running server that counts. */
export interface MeteredServer {
  /** Without a trailing slash. */
  readonly url: string;
  /** A token with all rights on what `bench` owns, for git. */
  readonly token: string;
  /** The admin token. */
  readonly adminToken: string;
  /** The bill since the last call, once all work has ended; starts a new bill. */
  takeBill(): Promise<Bill>;
  /** Sets the server's clock forward; alarms due by then fire. */
  advance(ms: number): Promise<void>;
  /** Removes all objects from memory, as happens when they are idle. */
  evict(): Promise<void>;
  readStored(): Promise<Stored>;
  /** CPU of the runtime so far, in s: of the Worker, its objects and the simulated R2. */
  readCpuSeconds(): number;
  close(): Promise<void>;
}

/** Builds the Worker with meters and starts it. Access is by token, as deployed.
 * @param limits lowered limits; by default, jobs run as soon as they are due
 * @throws Error if the build fails, the runtime does not start, or nothing is counted */
export async function startMeteredServer(limits: Partial<Limits> = {}): Promise<MeteredServer> {
  process.env["HOLDFAST_WORKER_DIR"] = await buildMeteredWorker();
  const server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN, LIMITS: JSON.stringify(limits) } });
  try {
    return await meter(server);
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function meter(server: Server): Promise<MeteredServer> {
  const ask = async <T>(what: string): Promise<T> => {
    const response = await fetch(`${server.url}/-/${what}`, { method: "POST" });
    if (!response.ok) throw new Error(`the meters answered ${what} with ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const made = await fetch(`${server.url}/api/tokens`, {
    method: "POST",
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify({ owner: "bench", name: "benchmark", right: "admin" }),
  });
  if (made.status !== 201) throw new Error(`no token was made: ${made.status} ${await made.text()}`);
  const { token } = (await made.json()) as { token: string };
  const bill = await ask<Bill>("bill");
  if (bill["Worker requests"] !== 1 || bill["registry requests"] === 0 || bill["registry rows written"] === 0)
    throw new Error(`the meters missed a request: ${JSON.stringify(bill)}`);
  return {
    url: server.url,
    token,
    adminToken: ADMIN_TOKEN,
    takeBill: () => ask("bill"),
    advance: (ms) => ask(`advance?ms=${ms}`),
    evict: () => ask("evict"),
    readStored: () => ask("stored"),
    readCpuSeconds: () => server.readUsage().cpuSeconds,
    close: () => server.close(),
  };
}

/** @returns the folder with the bundle, in the form of the tests' `buildWorker` */
async function buildMeteredWorker(): Promise<string> {
  const dir = makeTempDir("metered-worker");
  const wrangler = join(PROJECT, "node_modules/wrangler/bin/wrangler.js");
  const entry = join(import.meta.dirname, "main.ts");
  await promisify(execFile)(process.execPath, [wrangler, "deploy", entry, "--dry-run", "--outdir", dir], {
    cwd: PROJECT,
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" },
  });
  return dir;
}
