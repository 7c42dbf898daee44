/** Runs Git clients that share no code with git, with Holdfast and with git's own server. */
import { CLIENTS } from "../../test/foreign/clients.ts";
import { type ForeignClient, type Work, WORKS } from "../../test/foreign/works.ts";
import { git } from "../../test/harness/git.ts";
import { startNative } from "../../test/harness/native.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { UsageError } from "../command-line.ts";
import { text } from "../options.ts";
import { defineCheck, SERVER } from "./check.ts";
import { showProgress } from "./report.ts";

/** @returns null if it succeeded, else the error */
async function tryWork({ run }: Work, client: ForeignClient, url: string): Promise<string | null> {
  try {
    await run(client, url);
    return null;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim().split("\n")[0]!;
  }
}

export const foreignClients = defineCheck({
  text: `Other Git clients clone (also shallow), deepen, pull, push, push tags and delete, and the
results are compared with stock git's. Each operation also runs with git's own server: if it fails
there, the client is at fault.

The clients are isomorphic-git, which is installed with the project, and pygit2 and dulwich (Python
3.11 or newer), go-git (Go) and gix (Rust), which are first installed or built from the package
registries of these languages. Without a name, all clients run.`,
  operands: "[CLIENT...]",
  options: {
    build: text("DIR", "where to install them; existing ones are reused (default: a temporary folder)"),
    server: SERVER,
  },
  async run(run, { build, server }, operands) {
    const unknown = operands.find((name) => !(name in CLIENTS));
    if (unknown !== undefined) throw new UsageError(`${unknown}: not one of ${Object.keys(CLIENTS).join(", ")}`);
    const root = makeTempDir("native");
    const [target, native] = [await run.openServer(server), await startNative(root)];
    run.stack.defer(() => native.close());
    for (const name of operands.length > 0 ? operands : Object.keys(CLIENTS)) {
      showProgress(`${name}: installing`);
      const client = await CLIENTS[name]!(build ?? makeTempDir("foreign-build"));
      for (const [i, work] of WORKS.entries()) {
        showProgress(`${name}: ${work.name}`);
        const folder = `${name}-${i}.git`;
        await git(root, "init", "-q", "--bare", folder);
        const ours = await run.tally.time(client.name, () => tryWork(work, client, target.newRepository().url));
        const gits = await tryWork(work, client, `${native.url}/${folder}`);
        run.tally.count(
          ours === null ? "works done" : gits === null ? "works that fail" : "works that fail with git's server too",
        );
        if (gits !== null)
          process.stdout.write(`${client.name}: ${work.name}: git's server: ${gits}; here: ${ours ?? "ok"}\n`);
        else if (ours !== null) run.tally.wrong(`${client.name}: ${work.name}: ${ours}`);
      }
    }
  },
});
