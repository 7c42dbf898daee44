// The format of a token: a prefix that people and scanners recognise, 32 random bytes, and a
// checksum that detects truncated or mistyped tokens without asking the registry.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const PREFIX = "hf_";
const SECRET_BYTES = 32;
const CHECK_LENGTH = 6;
const TOKEN = /^hf_[\w-]{49}$/;

/** Makes a token: 52 characters, 256 random bits. */
export function newTokenText(): string {
  const secret = PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
  return secret + checkOf(secret);
}

/** Whether a text has the form of a token. */
export function isTokenText(text: string): boolean {
  return TOKEN.test(text) && text.slice(-CHECK_LENGTH) === checkOf(text.slice(0, -CHECK_LENGTH));
}

/** The stored form of a token: its SHA-256 in hex. It needs no salt, since tokens cannot be
 * guessed. */
export function hashToken(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Compares two secrets in constant time. */
export function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function checkOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url").slice(0, CHECK_LENGTH);
}
