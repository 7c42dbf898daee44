#!/usr/bin/env node
// git-remote-holdfast: pushes of any size to `holdfast::https://host/owner/repo`. git runs it and
// talks to it over standard input and output. See gitremote-helpers(7).
import { spawnSync } from "node:child_process";
import { git } from "./git.ts";
import { pushBatch, type PushContext } from "./push.ts";
import { LineReader, Relay } from "./relay.ts";

/** Reports an error in the style of git's helpers, and exits. */
function fail(error: unknown): never {
  process.stderr.write(`fatal: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(128);
}

function write(lines: readonly string[]): void {
  process.stdout.write(Buffer.from(lines.map((line) => `${line}\n`).join(""), "latin1"));
}

async function run(remote: string, address: string): Promise<void> {
  if (!/^https?:\/\//.test(address))
    throw new Error(`holdfast:: must be followed by an http or https URL, not ${address}`);
  const input = new LineReader(process.stdin);
  const relay = new Relay(remote.includes("::") ? address : remote, address);
  const context: PushContext = { url: new URL(address), relay, refs: new Map(), options: new Map(), pushOptions: [] };
  for (let line = await input.next(); line !== null && line !== ""; line = await input.next()) {
    const [command = ""] = line.split(" ", 1);
    if (command === "push") {
      write([...(await pushBatch(context, [line, ...(await input.block())])), ""]);
      continue;
    }
    if (/^(?:list|connect|stateless-connect)$/.test(command)) await pointLfs(address, line === "list for-push");
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

/** Remembers an accepted option, since a push may be made here. */
function note({ options, pushOptions }: PushContext, line: string, answer: string): void {
  if (answer !== "ok") return;
  const [, name = "", value = ""] = /^option (\S+) ?(.*)$/.exec(line) ?? [];
  if (name === "push-option") pushOptions.push(value);
  else options.set(name, value);
}

/** Remembers the server's refs: `<oid> <name>`. */
function noteRefs({ refs }: PushContext, lines: readonly string[]): void {
  refs.clear();
  for (const line of lines) {
    const [, oid, name] = /^([0-9a-f]{40}) (\S+)/.exec(line) ?? [];
    if (oid !== undefined && name !== undefined) refs.set(name, oid);
  }
}

// git ends its helpers with a signal; cleanup at exit must run then, too.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
const [, , remote, address = remote] = process.argv;
if (remote === undefined || address === undefined)
  fail(new Error("git runs this: git push holdfast::https://host/owner/repo"));
run(remote, address).catch(fail);

/** Configures the server of a repository for the client of Git LFS, which derives it from the URL
 * of a remote and cannot use `holdfast::…`. A push runs the client as a hook, after git has begun
 * to talk to this helper.
 *
 * Each remote with this URL gets `lfsurl`, or `lfspushurl` if it only pushes there. Values that the
 * user has set are kept: `holdfastlfs` records the values set here. A push without a remote has the
 * setting until it ends. Without Git LFS, nothing is set.
 * @param address of the repository, without `holdfast::`
 * @see git-lfs-config(5) */
export async function pointLfs(address: string, isPush: boolean): Promise<void> {
  // Outside a repository there is no push or checkout.
  if (process.env["GIT_DIR"] === undefined) return;
  const settings = await readSettings();
  if (!settings.has("filter.lfs.process") || settings.has("lfs.url")) return;
  const url = `holdfast::${address}`;
  const server = `${address.replace(/\/+$/, "").replace(/\.git$/, "")}.git/info/lfs`;
  const uses = [...settings].flatMap(([key, values]) => {
    const [, remote, kind] = values.includes(url) ? (/^(remote\..+)\.((?:push)?url)$/.exec(key) ?? []) : [];
    return remote === undefined ? [] : [{ remote, key: `${remote}.lfs${kind}` }];
  });
  for (const { remote, key } of uses) {
    const [present] = settings.get(key) ?? [];
    const isOwn = present === undefined || settings.get(`${remote}.holdfastlfs`)?.includes(present) === true;
    if (present === server || !isOwn) continue;
    await git(["config", "--local", key, server]);
    await git(["config", "--local", `${remote}.holdfastlfs`, server]);
  }
  if (uses.length > 0 || !isPush) return;
  await git(["config", "--local", `remote.${url}.lfsurl`, server]);
  process.once("exit", () => spawnSync("git", ["config", "--local", "--remove-section", `remote.${url}`]));
}

/** Reads git's configuration: values by key. */
async function readSettings(): Promise<Map<string, string[]>> {
  const settings = new Map<string, string[]>();
  for (const setting of (await git(["config", "--list", "-z"])).split("\0")) {
    const end = setting.indexOf("\n");
    const [key, value] = end < 0 ? [setting, ""] : [setting.slice(0, end), setting.slice(end + 1)];
    settings.set(key, [...(settings.get(key) ?? []), value]);
  }
  return settings;
}
