import { TrieRouter } from "hono/router/trie-router";
import { GitError } from "../format/errors.ts";
import { answerError } from "./error.ts";

/** Indexes the paths of routes.
 * @returns what tells the methods that a path is served for */
export function indexMethods(routes: readonly { method: string; path: string }[]): (path: string) => string[] {
  const router = new TrieRouter<string>();
  // What is there for all methods is middleware.
  for (const { method, path } of routes) if (method !== "ALL") router.add("ALL", path, method);
  return (path) => [...new Set(router.match("ALL", path)[0].map(([method]) => method))];
}

/** Answers for a path that no route serves by the method asked for: 405 when it is served by others, else 404.
 * @see RFC 9110, section 15.5.6 */
export function answerUnrouted(methods: readonly string[]): Response {
  if (methods.length === 0) return answerError(new GitError("not-found", { what: "route" }));
  const allowed = methods.includes("GET") ? ["HEAD", ...methods] : methods;
  const error = { code: "method-not-allowed", message: `this is served by ${allowed.join(", ")}` };
  return Response.json({ error }, { status: 405, headers: { Allow: allowed.join(", "), "Cache-Control": "no-store" } });
}
