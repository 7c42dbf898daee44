// Who a request is from: the one place that looks at the header Authorization. What the caller may do is decided by `authorise`.
import type { Caller } from "../access/caller.ts";
import { hashToken, isSameSecret, isTokenText } from "../access/token-text.ts";
import { GitError } from "../format/errors.ts";
import { ANSWER_LIFE_MS } from "../store/registry/registry.ts";
import { registryOf } from "./directory.ts";
import type { Env } from "./env.ts";
import { ExpiringMap } from "./expiring-map.ts";
import { FailedLogins } from "./failed-logins.ts";

/** Characters of the header: a token takes 52, and a name before it little more. */
const MAX_HEADER = 4_096;

/** Tokens that an isolate remembers: some 500 bytes each. */
const MAX_REMEMBERED = 10_000;

/** Who shows a token. */
type TokenCaller = Extract<Caller, { kind: "token" }>;

/** Who shows the tokens that this isolate has met, by their hashes. */
const remembered = new ExpiringMap<TokenCaller>(MAX_REMEMBERED);

const failedLogins = new FailedLogins();

/** Finds out who a request is from. Only the header counts: what looks like a token in a URL is none.
 * @throws GitError "unauthenticated" for a token that is not valid (any more), "rate-limited" for too many of those, "bad-request" for two
 * at once */
export async function identify(request: Request, env: Env): Promise<Caller> {
  if (env.ACCESS === "open") return { kind: "anyone" };
  const header = request.headers.get("Authorization");
  if (header === null) return { kind: "anonymous" };
  // Two headers of a name are joined so; no scheme that is known here has a comma.
  if (header.includes(",")) throw new GitError("bad-request", { reason: "there are two Authorization headers" });
  const secret = readSecret(header);
  const caller = secret === null ? null : await findCaller(secret, env);
  if (caller !== null) return caller;
  const address = request.headers.get("CF-Connecting-IP") ?? "unknown";
  const retryAfterMs = failedLogins.note(address, Date.now());
  if (retryAfterMs !== null) throw new GitError("rate-limited", { what: "wrong tokens", retryAfterMs });
  throw new GitError("unauthenticated", { what: "token", reason: "this one is unknown, revoked or expired" });
}

/** Forgets tokens that this isolate knows to be revoked. */
export function forgetToken(id: string): void {
  remembered.deleteWhere(({ token }) => token.id === id);
}

/** The secret in a header; null: there is none. Basic authentication carries it as the password, whatever the name.
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

async function findCaller(secret: string, env: Env): Promise<Caller | null> {
  const adminToken = await readAdminToken(env);
  if (adminToken && isSameSecret(secret, adminToken)) return { kind: "operator" };
  if (!isTokenText(secret)) return null;
  return findTokenCaller(hashToken(secret), env);
}

/** The admin token as it is now: where a file holds it, that may change while the server runs. */
async function readAdminToken({ ADMIN_TOKEN, ADMIN_TOKEN_SERVICE }: Env): Promise<string | undefined> {
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
