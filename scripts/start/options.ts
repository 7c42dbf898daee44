import { existsSync } from "node:fs";
import { isIP, isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { type Limits, lowerLimits } from "../../src/format/configured-limits.ts";
import { UsageError } from "../command-line.ts";
import { WORKTREE_POLICIES, type WorktreePolicy } from "../../src/repository/state/worktree-policy.ts";
import { PROJECT } from "../project.ts";

export const USAGE = `Usage: npm start [-- OPTIONS]

Serves Holdfast on this machine, and keeps its data in .holdfast/.

  --port N           port to listen on (default 8787; 0 takes a free one)
  --persist-to DIR   folder for the data (default .holdfast)
  --ip ADDRESS       address to listen on (default 127.0.0.1)
  --access WHICH     open: to every local user, only on loopback (default there); token: whatever is not public needs one
                     (default elsewhere); npm run setup makes the first
  --secrets FILE    where npm run setup has put the admin token (default .dev.vars)
  --create-on-push WHICH  on: a push to a name that nothing has creates its repository (default); off: it is refused
  --worktrees WHICH  default-branch, on-demand or none: whose files are put into the bucket one by one (default default-branch)
  --limits JSON      caps that are lowered, as LIMITS of a deployment: docs/operations.md
  --log-level LEVEL  none, error, warn or info (default warn; info prints every request and job as a line of JSON)
  --help             this text

Ctrl-C ends it once what is under way is done, within 10 seconds; a second one at once. It ends with status 0 when it was told to end,
with 1 when it could not go on, with 2 when it cannot start as it was told.
`;

export const OPTIONS = {
  port: { type: "string", default: "8787" },
  "persist-to": { type: "string", default: join(PROJECT, ".holdfast") },
  ip: { type: "string", default: "127.0.0.1" },
  access: { type: "string" },
  secrets: { type: "string", default: join(PROJECT, ".dev.vars") },
  "create-on-push": { type: "string", default: "on" },
  worktrees: { type: "string", default: "default-branch" },
  limits: { type: "string", default: "{}" },
  "log-level": { type: "string", default: "warn" },
} as const;

/** What is printed of the server's log: `none` nothing, each other also what is more urgent. */
export const LOG_LEVELS = ["none", "error", "warn", "info"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export type Access = "open" | "token";

/** How a server is to be run. */
export interface StartOptions {
  /** 0: any that is free. */
  readonly port: number;
  /** Without brackets. */
  readonly ip: string;
  readonly access: Access;
  /** Absolute. */
  readonly dataFolder: string;
  /** Absolute; need not be there. */
  readonly secretsFile: string;
  readonly createOnPush: "on" | "off";
  readonly worktrees: WorktreePolicy;
  readonly limits: Partial<Limits>;
  readonly logLevel: LogLevel;
}

/** Whether nobody but this machine reaches an address. */
export function isLoopback(ip: string): boolean {
  return ip === "localhost" || ip === "::1" || (isIPv4(ip) && ip.startsWith("127."));
}

/** Reads the options' values.
 * @throws UsageError for one that makes no sense */
export function readStartOptions(values: {
  readonly [Name in keyof typeof OPTIONS]?: string | undefined;
}): StartOptions {
  const ip = values.ip!;
  const access = oneOf("access", ["open", "token"], values.access ?? (isLoopback(ip) ? "open" : "token"));
  if (access === "open" && !isLoopback(ip)) {
    const others = `others reach ${ip}: take --access token, or --ip 127.0.0.1`;
    throw new UsageError(`--access open is for this machine alone, and ${others}`);
  }
  if (ip !== "localhost" && isIP(ip) === 0) throw new UsageError(`--ip ${ip}: not an address of this machine`);
  const secretsFile = resolve(values["secrets"]!);
  if (values["secrets"] !== OPTIONS["secrets"].default && !existsSync(secretsFile))
    throw new UsageError(`--secrets ${secretsFile}: there is no such file; npm run setup -- --file FILE makes one`);
  return {
    port: readPort(values.port!),
    ip,
    access,
    dataFolder: resolve(values["persist-to"]!),
    secretsFile,
    createOnPush: oneOf("create-on-push", ["on", "off"], values["create-on-push"]!),
    worktrees: oneOf("worktrees", WORKTREE_POLICIES, values.worktrees!),
    limits: readLimits(values.limits!),
    logLevel: oneOf("log-level", LOG_LEVELS, values["log-level"]!),
  };
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`--port ${text}: a port is a number from 0 to 65535`);
  return port;
}

function oneOf<const Word extends string>(name: string, words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text);
  if (found === undefined) throw new UsageError(`--${name} is ${words.join(" or ")}, not ${text}`);
  return found;
}

function readLimits(text: string): Partial<Limits> {
  try {
    const lowered = JSON.parse(text) as Partial<Limits>;
    lowerLimits(lowered);
    return lowered;
  } catch (error) {
    throw new UsageError(`--limits ${text}: ${(error as Error).message}`);
  }
}
