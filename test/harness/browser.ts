/** Chromium, for what only a browser can show: whether a page works under its own policy, fits a
 * phone, and what pages of other origins can do.
 *
 * `npm ci` installs one for Linux on x64 (`@sparticuz/chromium`: the headless shell with its
 * libraries and a font, so that a bare machine needs nothing else). Elsewhere the variable
 * HOLDFAST_CHROMIUM is the path of a Chromium or Chrome. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { PROJECT } from "./build.ts";

const PACKAGE = "@sparticuz/chromium";

/** No access beyond this machine, and no sandbox, which root cannot create in a container. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts Chromium with an empty profile.
 * @param flags further flags, such as `--host-resolver-rules=MAP evil.test 127.0.0.1`
 * @throws Error if no Chromium can be run on this machine: the message says how to name one */
export async function startBrowser(flags: readonly string[] = []): Promise<Browser> {
  const chosen = process.env["HOLDFAST_CHROMIUM"];
  const { path, env } = chosen === undefined ? await unpackChromium() : { path: chosen, env: {} };
  return chromium.launch({
    executablePath: path,
    args: [...FLAGS, ...flags],
    env: { ...(process.env as Record<string, string>), ...env },
  });
}

/** What a test file does with a browser that it shares. */
export type SharedBrowser = Pick<Browser, "newContext" | "newPage" | "close">;

/** This worker's browser. Nobody closes it: it ends with the worker. */
let shared: Promise<Browser> | undefined;

/** Returns the browser that all files of this worker share; starts it if there is none. Each file
 * has contexts of its own: `close` closes those. A start takes half a second of CPU.
 * @throws Error as `startBrowser` */
export async function shareBrowser(): Promise<SharedBrowser> {
  const browser = await (shared ??= startBrowser());
  const contexts: BrowserContext[] = [];
  const newContext: Browser["newContext"] = async (options) => {
    const context = await browser.newContext(options);
    contexts.push(context);
    return context;
  };
  return {
    newContext,
    newPage: async (options) => (await newContext(options)).newPage(),
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
    },
  };
}

/** Records all problems of a page from now on: console errors (including what its policy refused),
 * exceptions, failed requests.
 * @returns a growing list */
export function noteProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    // A page that is left ends its stream.
    if (request.resourceType() === "eventsource" && reason === "net::ERR_ABORTED") return;
    problems.push(`${request.url()}: ${reason}`);
  });
  return problems;
}

/** Unpacks the package's Chromium, once for all test runs until the next `npm ci`: 2 s, 220 MB. */
async function unpackChromium(): Promise<{ path: string; env: Record<string, string> }> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error(
      `${PACKAGE} has a Chromium for Linux on x64 only, and this is ${process.platform} on ${process.arch}: ` +
        "set HOLDFAST_CHROMIUM=PATH to an installed one",
    );
  }
  const manifest = join(PROJECT, "node_modules", PACKAGE, "package.json");
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
  const cache = join(PROJECT, "node_modules/.cache");
  const dir = join(cache, `chromium-${version}`);
  if (!existsSync(dir)) {
    await mkdir(cache, { recursive: true });
    const unpacking = await mkdtemp(`${dir}-`);
    // The package unpacks into the directory for temporary files, and unpacks its libraries only if
    // it believes to be on Lambda.
    const env = { ...process.env, TMPDIR: unpacking, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" };
    const script = `import chromium from "${PACKAGE}"; await chromium.executablePath();`;
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], { cwd: PROJECT, env });
    await writeFile(join(unpacking, "fonts.conf"), describeFonts(dir));
    // Renamed into place as a whole, since test files run concurrently. Whoever comes second
    // discards its copy.
    await rename(unpacking, dir).catch(() => rm(unpacking, { recursive: true }));
  }
  const env = { LD_LIBRARY_PATH: join(dir, "al2023/lib"), FONTCONFIG_FILE: join(dir, "fonts.conf") };
  return { path: join(dir, "chromium"), env };
}

/** The machine's fonts, if it has any, and the package's own: without one, text has no height. */
function describeFonts(dir: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(dir, "fonts")}</dir>
  <cachedir>${join(dir, "fonts-cache")}</cachedir>
</fontconfig>
`;
}
