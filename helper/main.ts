#!/usr/bin/env node
// git-remote-holdfast: pushes of any size to `holdfast::https://host/owner/repo`. git runs it, and
// speaks with it over standard input and output.
// See gitremote-helpers(7).
import { pointLfs } from "./lfs.ts";
import { pushBatch, type PushContext } from "./push.ts";
import { LineReader, Relay } from "./relay.ts";

/** Says what went wrong, as git's helpers do. */
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

/** Remembers an option that was accepted: a push may be made here. */
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

// git ends its helpers with a signal; what they leave at the end, they must leave then.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
const [, , remote, address = remote] = process.argv;
if (remote === undefined || address === undefined)
  fail(new Error("git runs this: git push holdfast::https://host/owner/repo"));
run(remote, address).catch(fail);
