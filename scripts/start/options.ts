import { existsSync } from "node:fs";
import { isIP, isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { type Limits, lowerLimits } from "../../src/base/format/configured-limits.ts";
import { UsageError } from "../command-line.ts";
import { WORKTREE_POLICIES, type WorktreePolicy } from "../../src/contract/env.ts";
import { PROJECT } from "../project.ts";

export const USAGE = `Usage: npm start [-- OPTIONS]

Serves Holdfast on this machine, and keeps its data in .holdfast/.

  --port N           port to listen on (default 8787; 0 takes a free one)
  --persist-to DIR   folder for the data (default .holdfast)
  --ip ADDRESS       address to listen on (default 127.0.0.1)
  --access WHICH     open: every local user has access (only on loopback, the default there)
                     token: everything that is not public needs a token (default elsewhere);
                     npm run setup makes the first
  --secrets FILE     the file with the admin token from npm run setup (default .dev.vars)
  --create-on-push WHICH
                     on: a push to an unused name creates the repository (default)
                     off: the push is refused
  --worktrees WHICH  whose files are written to the bucket one by one: default-branch, on-demand or
                     none (default default-branch)
  --allow-private-imports
                     imports may ask loopback and private addresses (default: only public ones)
  --private-hosts WHICH
                     on: webhooks may be on this machine and in private networks (default where
                     access is open); off: only at public addresses (default elsewhere)
  --limits JSON      lowered limits, as LIMITS of a deployment: docs/operations.md
  --log-level LEVEL  none, error, warn or info (default warn; info prints every request and job as a
                     line of JSON)
  --help             this text

Ctrl-C ends the server once the requests in progress are done, within 10 seconds; a second Ctrl-C
ends it at once. Exit status: 0 if it was told to end, 1 if it failed, 2 if it cannot start with
these options.
`;

export const OPTIONS = {
  port: { type: "string", default: "8787" },
  "persist-to": { type: "string", default: join(PROJECT, ".holdfast") },
  ip: { type: "string", default: "127.0.0.1" },
  access: { type: "string" },
  secrets: { type: "string", default: join(PROJECT, ".dev.vars") },
  "create-on-push": { type: "string", default: "on" },
  worktrees: { type: "string", default: "default-branch" },
  "allow-private-imports": { type: "boolean", default: false },
  "private-hosts": { type: "string" },
  limits: { type: "string", default: "{}" },
  "log-level": { type: "string", default: "warn" },
} as const;

/** Which lines of the server's log are printed: `none` for none; each level includes the more
 * urgent ones. */
export const LOG_LEVELS = ["none", "error", "warn", "info"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export type Access = "open" | "token";

/** The settings of a server. */
export interface StartOptions {
  /** 0: any free one. */
  readonly port: number;
  /** Without brackets. */
  readonly ip: string;
  readonly access: Access;
  /** Absolute. */
  readonly dataFolder: string;
  /** Absolute; the file may be missing. */
  readonly secretsFile: string;
  readonly createOnPush: "on" | "off";
  readonly worktrees: WorktreePolicy;
  readonly allowPrivateImports: boolean;
  readonly privateHosts: "on" | "off";
  readonly limits: Partial<Limits>;
  readonly logLevel: LogLevel;
}

/** Whether only this machine can reach an address. */
export function isLoopback(ip: string): boolean {
  return ip === "localhost" || ip === "::1" || (isIPv4(ip) && ip.startsWith("127."));
}

/** Reads the options' values.
 * @throws UsageError for an invalid one */
export function readStartOptions(values: {
  readonly [Name in keyof typeof OPTIONS]?:
    | ((typeof OPTIONS)[Name]["type"] extends "boolean" ? boolean : string)
    | undefined;
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
    allowPrivateImports: values["allow-private-imports"] === true,
    privateHosts: oneOf("private-hosts", ["on", "off"], values["private-hosts"] ?? (access === "open" ? "on" : "off")),
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
