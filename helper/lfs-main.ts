#!/usr/bin/env node
// git-lfs-holdfast: uploads of Git LFS that are too large for one request. The client of Git LFS
// runs it and talks to it over standard input and output. See git-lfs, docs/custom-transfers.md.
import { git } from "./git.ts";
import { serveClient } from "./lfs-agent.ts";

const USAGE = `git-lfs-holdfast: sends files of any size to a Holdfast server with Git LFS, in parts.

  git lfs-holdfast install [--local]     set it up, for all repositories or for this one
  git lfs-holdfast uninstall [--local]   take that back

From then on, git push uses it where a file is too large for one request. An upload
that was cut goes on where it was, by the same push, within a day.
`;

const SECTION = "lfs.customtransfer.holdfast";

async function run(args: readonly string[]): Promise<void> {
  const [command, scope, ...more] = args;
  if (command === undefined && !process.stdin.isTTY) return serveClient(process.stdin, process.stdout);
  if (command === undefined || command === "--help" || command === "-h" || command === "help")
    return void process.stdout.write(USAGE);
  const isKnown = command === "install" || command === "uninstall";
  if (!isKnown || (scope !== undefined && scope !== "--local") || more.length > 0)
    throw new Error(`${args.join(" ")} is no command of it\n${USAGE}`);
  const where = scope ?? "--global";
  if (command === "uninstall") {
    await git(["config", where, "--remove-section", SECTION]);
    return;
  }
  await git(["config", where, `${SECTION}.path`, "git-lfs-holdfast"]);
  await git(["config", where, `${SECTION}.direction`, "upload"]);
}

run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`git-lfs-holdfast: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
