/** Native git as a host: `git http-backend`. */
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { startNative } from "../../../test/harness/native.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { startApache } from "./apache.ts";
import type { Host } from "./host.ts";

/** Starts `git http-backend` behind Apache, or, where that is not installed, behind the tests' own CGI server. */
export async function startNativeHost(): Promise<Host> {
  const rootDir = makeTempDir("reference");
  const apache = await startApache(rootDir);
  if (apache === undefined) {
    console.error(
      "Apache is not installed (package apache2): a small CGI server in Node stands in, its CPU uncounted.",
    );
  }
  const server = apache ?? (await startNative(rootDir));
  let count = 0;
  return {
    async makeRepository() {
      const name = `repository-${count++}.git`;
      await git(rootDir, "init", "-q", "--bare", name);
      await git(join(rootDir, name), "config", "http.receivepack", "true");
      await git(join(rootDir, name), "config", "uploadpack.allowFilter", "true");
      apache?.admit(rootDir);
      return `${server.url}/${name}`;
    },
    readCpuSeconds: () => server.readCpuSeconds(),
    async maintain(url) {
      // Not its owner: the repository may be Apache's.
      await git(join(rootDir, basename(url)), "-c", "safe.directory=*", "gc", "-q");
      apache?.admit(rootDir);
      return {};
    },
    rest: async () => undefined,
    remove: (url) => rm(join(rootDir, basename(url)), { recursive: true }),
    takeEvents: () => [],
    readPeakMemoryBytes: () => null,
    close: () => server.close(),
  };
}
