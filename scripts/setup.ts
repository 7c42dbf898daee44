/** `npm run setup`: makes the admin token, for a server on this machine or for the deployed one. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const USAGE = `Usage: npm run setup [-- OPTIONS]

Makes the admin token: it may do everything, and gives out all others. It is shown this once.

  --deployed   for the deployed Worker: kept as its secret ADMIN_TOKEN (wrangler asks you to log in, if need be)
  --replace    in place of the one that is there; that is worth nothing then (the deployed one is always replaced)
  --file FILE  where a server on this machine reads it (default .dev.vars)
  --help       this text
`;

const SECRET_BYTES = 32;
const PROJECT = join(import.meta.dirname, "..");
const LINE = /^ADMIN_TOKEN=.*\n?/m;

/** Writes the token to the file that `wrangler dev` reads its secrets from, for its owner alone to read.
 * @throws Error when there is one, which is not to be replaced */
function keepHere(file: string, token: string, replace: boolean): void {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (LINE.test(before) && !replace) throw new Error(`${file} holds an admin token: --replace makes another`);
  const others = before.replace(LINE, "");
  writeFileSync(file, `${others}${others === "" || others.endsWith("\n") ? "" : "\n"}ADMIN_TOKEN=${token}\n`, {
    mode: 0o600,
  });
}

/** Hands the token to the deployed Worker, by standard input: nobody sees it in a list of processes. */
async function keepDeployed(token: string): Promise<void> {
  const wrangler = spawn(
    process.execPath,
    [fileURLToPath(import.meta.resolve("wrangler")), "secret", "put", "ADMIN_TOKEN"],
    { cwd: PROJECT, stdio: ["pipe", "inherit", "inherit"] },
  );
  wrangler.stdin.end(`${token}\n`);
  const [code] = (await once(wrangler, "exit")) as [number | null];
  if (code !== 0) throw new Error(`wrangler ended with status ${code}: the deployed admin token is as it was`);
}

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  console.log(USAGE);
} else {
  const token = randomBytes(SECRET_BYTES).toString("base64url");
  const fileAt = args.indexOf("--file");
  const file = fileAt < 0 ? join(PROJECT, ".dev.vars") : args[fileAt + 1]!;
  try {
    if (args.includes("--deployed")) await keepDeployed(token);
    else keepHere(file, token, args.includes("--replace"));
    console.log(`The admin token, shown this once:

  ${token}

git asks for it as the password, with any user name. To give out another token:

  curl -H "Authorization: Bearer <admin token>" -H "Content-Type: application/json" \\
    -d '{"owner": "me", "name": "laptop", "right": "write"}' <URL of the server>/api/tokens`);
    if (!args.includes("--deployed"))
      console.log("\nA server on this machine asks for tokens with: npm start -- --access token");
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
