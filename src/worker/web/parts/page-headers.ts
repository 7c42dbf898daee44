/** Headers of every page. Only the pages' own scripts run, only their own resources load, and forms
 * are sent only here: content of a repository can never act with the rights of its reader. */
export const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "private, no-cache",
  Vary: "Cookie, Accept",
} as const;

/** Content-Security-Policy for the contents of a repository: they are shown alone, and can do
 * nothing. */
export const RAW_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Keeps search engines away: they would follow every line of every revision. */
export const UNLISTED = { "X-Robots-Tag": "noindex, nofollow" } as const;
