/** cgit as a CGI program, one process for each page, as web servers run it. Its cache is off. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";

/** Where distributions install it. */
const PROGRAMS = ["/usr/lib/cgit/cgit.cgi", "/var/www/cgi-bin/cgit"];

/** How long a page took. */
export interface PageTimes {
  /** Until the first bytes of the body. */
  readonly firstMs: number;
  readonly ms: number;
}

/** Makes a page. @param path such as `log/src?id=main`, below the repository's URL */
export type Cgit = (path: string) => Promise<PageTimes>;

/** Sets cgit up for one repository.
 * @returns undefined if it is not installed */
export function openCgit(dir: string): Cgit | undefined {
  const program = PROGRAMS.find((path) => existsSync(path));
  if (program === undefined) return undefined;
  const config = join(makeTempDir("cgit"), "cgitrc");
  writeFileSync(config, `cache-size=0\nenable-blame=1\nrepo.url=long\nrepo.path=${dir}\n`);
  return async (path) => {
    const [info, query = ""] = path.split("?");
    const env = { CGIT_CONFIG: config, PATH_INFO: `/long/${info}`, QUERY_STRING: query, REQUEST_METHOD: "GET" };
    const startMs = performance.now();
    const child = spawn(program, { env, stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    let head = "";
    let firstMs = Number.NaN;
    for await (const piece of child.stdout) {
      if (head === "") firstMs = performance.now() - startMs;
      // The status is among the first lines.
      if (head.length < 1_000) head += String(piece);
    }
    const [code] = (await exited) as [number | null];
    if (code !== 0 || !/^Content-Type: text\/html/m.test(head) || /^Status: [45]/m.test(head))
      throw new Error(`cgit ended with ${code} for ${path}: ${head.slice(0, 300)}`);
    return { firstMs, ms: performance.now() - startMs };
  };
}
