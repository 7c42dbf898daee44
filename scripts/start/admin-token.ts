import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";

/** The variable that holds the admin token, in a file of `NAME=value` lines. */
const ADMIN_TOKEN = "ADMIN_TOKEN";

/** A line of such a file with the admin token. */
export const ADMIN_TOKEN_LINE = /^ADMIN_TOKEN=.*\n?/m;

/** The file's line for a token. */
export function formatAdminToken(token: string): string {
  return `${ADMIN_TOKEN}=${token}\n`;
}

/** Reads the key that encrypts credentials for other hosts; "" if there is none.
 * @throws Error if the file cannot be read */
export function readSecretsKey(file: string): string {
  return readVariable(file, "SECRETS_KEY") ?? "";
}

/** Reads the current admin token; null if there is none.
 * @throws Error if the file cannot be read */
export function readAdminToken(file: string): string | null {
  return readVariable(file, ADMIN_TOKEN);
}

function readVariable(file: string, name: string): string | null {
  try {
    return parseEnv(readFileSync(file, "utf8"))[name] ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
