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

/** Reads the current admin token; null if there is none.
 * @throws Error if the file cannot be read */
export function readAdminToken(file: string): string | null {
  try {
    return parseEnv(readFileSync(file, "utf8"))[ADMIN_TOKEN] ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
