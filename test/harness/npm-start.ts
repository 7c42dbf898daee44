import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { PROJECT } from "./build.ts";

/** Runs `npm start` as a user does, in a process group of its own. */
export function start(...options: string[]): ChildProcess {
  const { FORCE_COLOR: _, ...env } = process.env;
  return spawn("npm", ["start", "--", ...options], { cwd: PROJECT, env, detached: true });
}

/** Reads until the text matches, or the process has ended. */
export async function readUntil(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = "";
  for (const output of [child.stdout, child.stderr]) output?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, "close");
  for (;;) {
    if (pattern.test(text)) return text;
    if (child.exitCode !== null) return text;
    await Promise.race([ended, new Promise((wait) => setTimeout(wait, 50))]);
  }
}
