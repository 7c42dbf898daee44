// What a token looks like: a prefix by which people and scanners know it, 32 random bytes, and a check by which a text that was cut or
// mistyped is told from a token without asking anybody.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const PREFIX = "hf_";
const SECRET_BYTES = 32;
const CHECK_LENGTH = 6;
const TOKEN = /^hf_[\w-]{49}$/;

/** Makes a token: 52 characters, 256 bits of them random. */
export function newTokenText(): string {
  const secret = PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
  return secret + checkOf(secret);
}

/** Whether a text can be a token that this server gave out. */
export function isTokenText(text: string): boolean {
  return TOKEN.test(text) && text.slice(-CHECK_LENGTH) === checkOf(text.slice(0, -CHECK_LENGTH));
}

/** What is stored of a token, in hex: its SHA-256. It needs no salt, since what is hashed cannot be guessed. */
export function hashToken(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Whether two secrets are the same, found out in a time that tells nothing of either. */
export function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function checkOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url").slice(0, CHECK_LENGTH);
}
