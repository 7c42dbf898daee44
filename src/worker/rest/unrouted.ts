import { TrieRouter } from "hono/router/trie-router";
import { GitError } from "../../base/format/errors.ts";
import { answerError } from "./common/error.ts";

/** Indexes the paths of routes.
 * @returns a function that lists the methods for which a path is served */
export function indexMethods(routes: readonly { method: string; path: string }[]): (path: string) => string[] {
  const router = new TrieRouter<string>();
  // What is registered for all methods is middleware.
  for (const { method, path } of routes) if (method !== "ALL") router.add("ALL", path, method);
  return (path) => [...new Set(router.match("ALL", path)[0].map(([method]) => method))];
}

/** Answers a request that no route serves: 405 when the path exists for other methods, else 404.
 * @see RFC 9110, section 15.5.6 */
export function answerUnrouted(methods: readonly string[]): Response {
  if (methods.length === 0) return answerError(new GitError("not-found", { what: "route" }));
  const allowed = methods.includes("GET") ? ["HEAD", ...methods] : methods;
  const error = { code: "method-not-allowed", message: `method not allowed: use ${allowed.join(" or ")}` };
  return Response.json({ error }, { status: 405, headers: { Allow: allowed.join(", "), "Cache-Control": "no-store" } });
}
