/** Headers of every page. Nothing runs, loads or is sent anywhere but the pages' own: whatever a
 * repository holds can never act in the name of who looks at it. */
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

/** Replaces the policy for the contents of a repository: they are shown alone, and do nothing. */
export const RAW_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Added where search engines are to look elsewhere: they would go through every line of every
 * revision. */
export const UNLISTED = { "X-Robots-Tag": "noindex, nofollow" } as const;
