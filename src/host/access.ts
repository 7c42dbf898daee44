import { createHash, timingSafeEqual } from "node:crypto";
import { textResponse } from "../protocol/error-response.ts";
import type { Env } from "./env.ts";

/**
 * Decides whether a request may go on. `ACCESS=open` lets everyone in; otherwise the caller shows `HOLDFAST_TOKEN`, as a
 * Bearer token or as the password of Basic authentication. Without that secret nobody gets in.
 * @returns the refusal, or null
 */
export function authorise(request: Request, env: Env): Response | null {
  if (env.ACCESS === "open") return null;
  const token = presentedToken(request.headers.get("Authorization"));
  if (token !== null && env.HOLDFAST_TOKEN !== undefined && isSame(token, env.HOLDFAST_TOKEN)) return null;
  return textResponse(401, "a token is required", { "WWW-Authenticate": 'Basic realm="Holdfast", charset="UTF-8"' });
}

function presentedToken(header: string | null): string | null {
  const [scheme, credentials] = header?.split(" ", 2) ?? [];
  if (scheme === undefined || credentials === undefined) return null;
  if (scheme.toLowerCase() === "bearer") return credentials;
  if (scheme.toLowerCase() !== "basic") return null;
  const decoded = Buffer.from(credentials, "base64").toString();
  const colon = decoded.indexOf(":");
  return colon < 0 ? null : decoded.slice(colon + 1);
}

/** Compares in constant time, whatever the lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
