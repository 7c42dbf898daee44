/** `npm run setup`: makes the admin token, for a server on this machine or for the deployed one. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommandLine, UsageError } from "./command-line.ts";
import { PROJECT } from "./project.ts";
import { ADMIN_TOKEN_LINE, formatAdminToken } from "./start/admin-token.ts";

const USAGE = `Usage: npm run setup [-- OPTIONS]

Makes the admin token. It has all rights, and makes all other tokens. It is shown only once. A
running server accepts it at once, and no longer the one before.

  --deployed   for the deployed Worker: stored as its secret ADMIN_TOKEN (wrangler asks you to log
               in if necessary)
  --replace    replaces the existing token, which becomes invalid (a deployed one is always
               replaced)
  --file FILE  the file that a server on this machine reads (default .dev.vars);
               npm start -- --secrets FILE reads another
  --help       this text
`;

const OPTIONS = {
  deployed: { type: "boolean", default: false },
  replace: { type: "boolean", default: false },
  file: { type: "string", default: join(PROJECT, ".dev.vars") },
} as const;

const SECRET_BYTES = 32;

/** Writes the token to the file that `npm start` reads it from. Only the file's owner may read it.
 * @throws UsageError if there is a token and `replace` is false, or if the file cannot be
 * written */
function keepHere(file: string, token: string, replace: boolean): void {
  try {
    const before = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (ADMIN_TOKEN_LINE.test(before) && !replace)
      throw new UsageError(`${file} already has an admin token: --replace makes a new one`);
    const others = before.replace(ADMIN_TOKEN_LINE, "");
    // Renaming is atomic: a server that reads the file sees the old one or the new one.
    writeFileSync(
      `${file}.new`,
      `${others}${others === "" || others.endsWith("\n") ? "" : "\n"}${formatAdminToken(token)}`,
      {
        mode: 0o600,
      },
    );
    renameSync(`${file}.new`, file);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--file ${file}: ${(error as Error).message}`);
  }
}

/** Passes the token to the deployed Worker through standard input, so that no list of processes
 * shows it. */
async function keepDeployed(token: string): Promise<void> {
  const wrangler = spawn(
    process.execPath,
    [fileURLToPath(import.meta.resolve("wrangler")), "secret", "put", "ADMIN_TOKEN"],
    { cwd: PROJECT, stdio: ["pipe", "inherit", "inherit"] },
  );
  wrangler.stdin.end(`${token}\n`);
  const [code] = (await once(wrangler, "exit")) as [number | null];
  if (code !== 0) throw new Error(`wrangler ended with status ${code}: the deployed admin token has not changed`);
}

await runCommandLine(USAGE, OPTIONS, async ({ deployed, replace, file }) => {
  const token = randomBytes(SECRET_BYTES).toString("base64url");
  try {
    if (deployed) await keepDeployed(token);
    else keepHere(resolve(file), token, replace);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    console.error((error as Error).message);
    process.exitCode = 1;
    return;
  }
  console.log(`The admin token, shown this once:

  ${token}

git asks for it as the password, with any user name. To give out another token:

  curl -H "Authorization: Bearer <admin token>" -H "Content-Type: application/json" \\
    -d '{"owner": "me", "name": "laptop", "right": "write"}' <URL of the server>/api/tokens`);
  if (!deployed)
    console.log(`
A running server on this machine accepts it from now on. To start one that needs tokens:

  npm start -- --access token`);
});
