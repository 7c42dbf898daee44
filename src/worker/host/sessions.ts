// Sessions of browsers. A browser that signed in with a token holds a random secret in a cookie;
// the registry stores its hash. Only pages read the cookie, git's routes and the API never do: a
// cookie that a browser adds by itself has no effect there.
import { parse, serialize } from "hono/utils/cookie";
import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Caller } from "../../base/access/caller.ts";
import { isSameSecret } from "../../base/access/token-text.ts";
import { ANSWER_LIFE_MS } from "../../contract/registry.ts";
import { registryOf } from "./directory.ts";
import type { Env } from "../../contract/env.ts";
import { ExpiringMap } from "./expiring-map.ts";
import { checkSecret, identify, readAdminToken } from "./identify.ts";
import type { KnownSession } from "../../contract/objects.ts";

/** Maximum life of a session. */
const SESSION_MS = 30 * 24 * 60 * 60_000;

/** The cookie's name over https. With this prefix, browsers take it from this host alone, over
 * https alone, for all paths. @see https://datatracker.ietf.org/doc/html/rfc6265bis */
const SECURE_NAME = "__Host-holdfast";
const PLAIN_NAME = "holdfast-session";

const SECRET_BYTES = 32;
const SECRET = /^[\w-]{43}$/;

/** Maximum length of a Cookie header, in characters. It may hold other cookies of the host. */
const MAX_HEADER = 16_384;

/** Maximum number of cached sessions, some 600 bytes each. */
const MAX_REMEMBERED = 10_000;

interface Remembered {
  readonly session: KnownSession;
  readonly knownMs: number;
}

/** Sessions by their hashes: those that this isolate has seen. */
const remembered = new ExpiringMap<Remembered>(MAX_REMEMBERED);

/** Identifies the caller of a page: by the header Authorization, which programs send, if there is
 * one, else by the session. A session that has ended counts as none.
 * @throws GitError as `identify` */
export async function identifyVisitor(request: Request, env: Env): Promise<Caller> {
  const secret = readCookie(request);
  if (env.ACCESS === "open" || secret === null || request.headers.has("Authorization")) return identify(request, env);
  const nowMs = Date.now();
  const hash = hashSecret(secret);
  let known = remembered.get(hash, nowMs);
  if (known === undefined) {
    const session = await registryOf(env).useSession(hash);
    if (session === null) return { kind: "anonymous" };
    known = { session, knownMs: nowMs };
    const token = session.kind === "token" ? session.token : null;
    remembered.set(hash, known, Math.min(nowMs + ANSWER_LIFE_MS, session.expiresMs, token?.expiresMs ?? Infinity));
  }
  const { session, knownMs } = known;
  if (session.kind === "token") return { kind: "token", token: session.token, knownMs };
  const adminToken = await readAdminToken(env);
  const isSame =
    adminToken !== undefined && adminToken !== "" && isSameSecret(session.proof, prove(secret, adminToken));
  return { kind: isSame ? "operator" : "anonymous" };
}

/** Signs a browser in, and ends its previous session.
 * @param token text of a token
 * @returns a `Set-Cookie`
 * @throws GitError "unauthenticated", "rate-limited" as `identify` */
export async function signIn(request: Request, env: Env, token: string): Promise<string> {
  const caller = await checkSecret(request, env, token);
  await endSession(request, env);
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const nowMs = Date.now();
  const tokenEndMs = caller.kind === "token" ? (caller.token.expiresMs ?? Infinity) : Infinity;
  const expiresMs = Math.min(nowMs + SESSION_MS, tokenEndMs);
  const holder = caller.kind === "token" ? { token: caller.token.id } : { proof: prove(secret, token) };
  await registryOf(env).createSession(hashSecret(secret), holder, expiresMs);
  return writeCookie(request, secret, Math.floor((expiresMs - nowMs) / 1000));
}

/** Signs a browser out.
 * @returns a `Set-Cookie` */
export async function signOut(request: Request, env: Env): Promise<string> {
  await endSession(request, env);
  return writeCookie(request, "", 0);
}

/** Drops the cached sessions of a token, after a revocation by this isolate. */
export function forgetSessionsOf(tokenId: string): void {
  remembered.deleteWhere(({ session }) => session.kind === "token" && session.token.id === tokenId);
}

async function endSession(request: Request, env: Env): Promise<void> {
  const secret = readCookie(request);
  if (secret === null) return;
  const hash = hashSecret(secret);
  remembered.delete(hash);
  await registryOf(env).endSession(hash);
}

/** Extracts the secret from the cookie; null: there is none. */
function readCookie(request: Request): string | null {
  const header = request.headers.get("Cookie");
  if (header === null || header.length > MAX_HEADER) return null;
  const secret = parse(header)[nameFor(request)];
  return secret !== undefined && SECRET.test(secret) ? secret : null;
}

function writeCookie(request: Request, secret: string, maxAgeSeconds: number): string {
  const secure = isSecure(request);
  return serialize(nameFor(request), secret, {
    path: "/",
    maxAge: maxAgeSeconds,
    httpOnly: true,
    sameSite: "lax",
    secure,
  });
}

function nameFor(request: Request): string {
  return isSecure(request) ? SECURE_NAME : PLAIN_NAME;
}

function isSecure({ url }: Request): boolean {
  return url.startsWith("https:");
}

function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Derives a check value that ties a session to the admin token that signed in: the session ends
 * when the token is replaced. It is keyed with the session's secret, so that nobody can try out
 * tokens on the stored value alone. */
function prove(secret: string, adminToken: string): string {
  return createHmac("sha256", secret).update(adminToken).digest("hex");
}
