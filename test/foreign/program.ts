import { spawn } from "node:child_process";
import { gitEnv } from "../harness/git.ts";
import type { ForeignClient } from "./works.ts";

/** A client that is a program. Its first argument is the method, the others are the method's own.
 * Its exit status is 0 on success. */
export function programClient(name: string, command: readonly string[]): ForeignClient {
  const run = (...args: readonly string[]): Promise<void> => runProgram([...command, ...args]);
  return {
    name,
    clone: (url, dir, depth) => run("clone", url, dir, String(depth)),
    deepen: (dir, depth) => run("deepen", dir, String(depth)),
    pull: (dir) => run("pull", dir),
    push: (dir, ...refspecs) => run("push", dir, ...refspecs),
  };
}

/** Runs a program without the user's configuration, as the tests run git.
 * @param cwd the directory that it runs in @param env variables over the isolated ones
 * @throws Error with the end of its output when it fails */
export async function runProgram(
  [program, ...args]: readonly string[],
  { cwd, env }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  const child = spawn(program!, args, { cwd, env: { ...gitEnv(), ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const output of [child.stdout, child.stderr]) {
    output.on("data", (bytes: Buffer) => (said = `${said}${bytes.toString()}`.slice(-4_000)));
  }
  const code = await new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve(exitCode ?? 128));
  });
  if (code !== 0) throw new Error(said.trim().split("\n").at(-1) ?? `${program!} ended with ${code}`);
}
