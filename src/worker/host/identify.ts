// Identifies the sender of a request. Only this file reads the header Authorization. `authorise`
// decides what the caller may do.
import { ExpiringMap } from "./expiring-map.ts";
import type { Caller } from "../../base/access/caller.ts";
import { hashToken, isSameSecret, isTokenText } from "../../base/access/token-text.ts";
import { GitError } from "../../base/format/errors.ts";
import { ANSWER_LIFE_MS } from "../../contract/registry.ts";
import { registryOf } from "./directory.ts";
import type { Env } from "../../contract/env.ts";

/** Maximum length of the header, in characters: a token takes 52, a name before it little more. */
const MAX_HEADER = 4_096;

/** Maximum number of cached tokens, some 500 bytes each. */
const MAX_REMEMBERED = 10_000;

type TokenCaller = Extract<Caller, { kind: "token" }>;

/** Callers by the hashes of their tokens: those that this isolate has seen. */
const remembered = new ExpiringMap<TokenCaller>(MAX_REMEMBERED);

/** Invalid tokens that an address may send within `WINDOW_MS`. */
export const MAX_FAILURES = 30;
const WINDOW_MS = 60_000;

/** Maximum number of addresses, some 100 bytes each. */
const MAX_ADDRESSES = 10_000;

/** Counts invalid tokens by client address, in one isolate. A valid token is never counted or
 * delayed, whatever its address: the token is checked first, and only senders of invalid tokens
 * must wait. */
class FailedLogins {
  readonly #windows = new ExpiringMap<{ count: number; readonly endMs: number }>(MAX_ADDRESSES);

  /** Counts an invalid token.
   * @returns how long its sender must wait (ms); null: it may try again */
  note(address: string, nowMs: number): number | null {
    let window = this.#windows.get(address, nowMs);
    if (window === undefined) {
      window = { count: 0, endMs: nowMs + WINDOW_MS };
      this.#windows.set(address, window, window.endMs);
    }
    window.count += 1;
    return window.count > MAX_FAILURES ? window.endMs - nowMs : null;
  }
}

const failedLogins = new FailedLogins();

/** Identifies the caller. Only the header counts: a token in a URL is ignored.
 * @throws GitError "unauthenticated" for a token that is unknown, expired or revoked,
 * "rate-limited" after too many of those, "bad-request" for two at once */
export async function identify(request: Request, env: Env): Promise<Caller> {
  if (env.ACCESS === "open") return { kind: "anyone" };
  const header = request.headers.get("Authorization");
  if (header === null) return { kind: "anonymous" };
  // Two headers of the same name arrive joined by a comma, which no supported scheme contains.
  if (header.includes(",")) throw new GitError("bad-request", { reason: "there are two Authorization headers" });
  return checkSecret(request, env, readSecret(header));
}

/** Finds the caller whose secret a request carries.
 * @param secret null: the header is not readable as a secret
 * @throws GitError "unauthenticated", "rate-limited" as `identify` */
export async function checkSecret(
  request: Request,
  env: Env,
  secret: string | null,
): Promise<TokenCaller | { readonly kind: "operator" }> {
  const caller = secret === null ? null : await findCaller(secret, env);
  if (caller !== null) return caller;
  const address = request.headers.get("CF-Connecting-IP") ?? "unknown";
  const retryAfterMs = failedLogins.note(address, Date.now());
  if (retryAfterMs !== null) throw new GitError("rate-limited", { what: "wrong tokens", retryAfterMs });
  throw new GitError("unauthenticated", { what: "token", reason: "this one is unknown, revoked or expired" });
}

/** Drops the cached tokens with this id, after a revocation by this isolate. */
export function forgetToken(id: string): void {
  remembered.deleteWhere(({ token }) => token.id === id);
}

/** Extracts the secret of a header; null: there is none. In Basic authentication it is the
 * password; the user name is ignored.
 * @see RFC 7617, RFC 6750 */
function readSecret(header: string): string | null {
  if (header.length > MAX_HEADER) return null;
  const [, scheme, credentials] = /^(\w+) +([^ ]+) *$/.exec(header) ?? [];
  if (scheme?.toLowerCase() === "bearer") return credentials!;
  if (scheme?.toLowerCase() !== "basic") return null;
  const decoded = Buffer.from(credentials!, "base64").toString();
  const colon = decoded.indexOf(":");
  return colon < 0 ? null : decoded.slice(colon + 1);
}

async function findCaller(secret: string, env: Env): Promise<TokenCaller | { readonly kind: "operator" } | null> {
  const adminToken = await readAdminToken(env);
  if (adminToken && isSameSecret(secret, adminToken)) return { kind: "operator" };
  if (!isTokenText(secret)) return null;
  return findTokenCaller(hashToken(secret), env);
}

/** Reads the current admin token. In a file, it may change while the server runs. */
export async function readAdminToken({ ADMIN_TOKEN, ADMIN_TOKEN_SERVICE }: Env): Promise<string | undefined> {
  if (ADMIN_TOKEN_SERVICE === undefined) return ADMIN_TOKEN;
  return (await ADMIN_TOKEN_SERVICE.fetch("http://admin-token/")).text();
}

async function findTokenCaller(hash: string, env: Env): Promise<TokenCaller | null> {
  const nowMs = Date.now();
  const known = remembered.get(hash, nowMs);
  if (known !== undefined) return known;
  const token = await registryOf(env).useToken(hash);
  if (token === null) return null;
  const caller: TokenCaller = { kind: "token", token, knownMs: nowMs };
  remembered.set(hash, caller, Math.min(nowMs + ANSWER_LIFE_MS, token.expiresMs ?? Infinity));
  return caller;
}
