// The REST API: JSON over HTTP under /api. The OpenAPI document is made from the same schemas that
// validate requests. It runs in the Worker, so malformed requests never reach a repository's
// object.
// Each resource is one file, which exports its routes as an app of its own (`newRoutes`), mounted
// here. A route declares the right it needs (`defineRoute`) and gets the repository opened with
// that right (`repositoryOf(context)`). Shared code is in `error`, `schemas`, `paging`,
// `conditional` and `request-body`; no resource imports another.
import type { MiddlewareHandler } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { GitError } from "../../base/format/errors.ts";
import { answerError } from "./common/error.ts";
import { commitRoutes } from "./history/commits.ts";
import { compareRoutes } from "./history/compare.ts";
import { branchRoutes } from "./refs/branches.ts";
import { activityRoutes } from "./history/activity.ts";
import { contributorRoutes } from "./history/contributors.ts";
import { backupRoutes } from "./admin/backup.ts";
import { blameRoutes } from "./history/blame.ts";
import { archiveRoutes } from "./content/archive.ts";
import { eventRoutes } from "./history/events.ts";
import { filesRoutes } from "./content/files.ts";
import { fsckRoutes } from "./admin/fsck.ts";
import { gitObjectRoutes } from "./content/git-objects.ts";
import { importRoutes } from "./admin/import.ts";
import { languageRoutes } from "./content/languages.ts";
import { logRoutes } from "./history/log.ts";
import { grepRoutes } from "./content/grep.ts";
import { lfsRoutes } from "./admin/lfs.ts";
import { maintenanceRoutes } from "./admin/maintenance.ts";
import { mergeRoutes } from "./changes/merge.ts";
import { mergeBaseRoutes } from "./history/merge-base.ts";
import { protectedRefRoutes } from "./refs/protected-refs.ts";
import { quotaRoutes } from "./admin/quotas.ts";
import { refRoutes } from "./refs/refs.ts";
import { pushRoutes } from "./admin/pushes.ts";
import { newCommitRoutes } from "./changes/new-commit.ts";
import { rawRoutes } from "./content/raw.ts";
import { forkRoutes } from "./admin/forks.ts";
import { repositoryRoutes } from "./admin/repositories.ts";
import { refuseOddNames } from "./common/path-parts.ts";
import { newRoutes, type RestEnv, type RestHost } from "./common/routes.ts";
import { tagRoutes } from "./refs/tags.ts";
import { tokenRoutes } from "./admin/tokens.ts";
import { statusRoutes } from "./history/statuses.ts";
import { statsRoutes } from "./history/stats.ts";
import { uploadRoutes } from "./admin/uploads.ts";
import { mirrorRoutes } from "./admin/mirrors.ts";
import { ownerWebhookRoutes, webhookRoutes } from "./admin/webhooks.ts";
import { worktreesRoutes } from "./content/worktrees.ts";

/** The general part of the API's document. */
export const API_DESCRIPTION = {
  openapi: "3.1.0",
  info: {
    title: "Holdfast",
    version: "1",
    description:
      "Read and change Git repositories over HTTP. " +
      "`ref` is a revision as in `git rev-parse`: a branch, a tag, an object id or a unique prefix of one, or HEAD, each with `~n` and `^n`. " +
      "In a URL's path, slashes of names are written as they are, or as `%2F`; a revision that ends in `/statuses` needs the latter in `/commits/{ref}`. If a branch and a tag share a short name, the branch is used, and the response header `Holdfast-Ambiguous` " +
      "lists all candidates, the one used first (`refs/heads/main, refs/tags/main`; a semicolon separates several names). A full name such as `refs/tags/main` is never ambiguous. " +
      "Send a token as `Authorization: Bearer`. Each route names the right it needs (`x-needs`): read, write or admin for the repository; operate for the deployment's admin token only; " +
      "token for any token, where the right depends on what the request names. Public repositories can be read without a token. " +
      "A parameter of a query, or a key of a body, that a route does not have is refused (422). " +
      "Lists come in pages: pass `nextCursor` as `cursor` to get the next page. Errors are `{error: {code, message}}`.",
  },
};

/** Makes the API's app, to be mounted under `/api`.
 * @param hostOf returns the host's services for a request */
export function createRestApp(hostOf: (context: Parameters<MiddlewareHandler<RestEnv>>[0]) => RestHost) {
  const app = newRoutes();
  app.use("*", async (context, next) => {
    context.set("host", hostOf(context));
    refuseOddNames(context.req.url);
    await next();
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  app.openAPIRegistry.registerComponent("securitySchemes", "basic", {
    type: "http",
    scheme: "basic",
    description: "the token is the password; any user name will do",
  });
  const api = app
    .route("/", repositoryRoutes)
    .route("/", forkRoutes)
    .route("/", tokenRoutes)
    .route("/", quotaRoutes)
    .route("/", maintenanceRoutes)
    .route("/", fsckRoutes)
    .route("/", backupRoutes)
    .route("/", uploadRoutes)
    .route("/", importRoutes)
    .route("/", newCommitRoutes)
    .route("/", branchRoutes)
    .route("/", tagRoutes)
    .route("/", refRoutes)
    .route("/", protectedRefRoutes)
    .route("/", mergeRoutes)
    .route("/", logRoutes)
    .route("/", blameRoutes)
    .route("/", mergeBaseRoutes)
    .route("/", filesRoutes)
    .route("/", gitObjectRoutes)
    .route("/", rawRoutes)
    .route("/", commitRoutes)
    .route("/", statusRoutes)
    .route("/", compareRoutes)
    .route("/", statsRoutes)
    .route("/", lfsRoutes)
    .route("/", languageRoutes)
    .route("/", contributorRoutes)
    .route("/", activityRoutes)
    .route("/", pushRoutes)
    .route("/", eventRoutes)
    .route("/", mirrorRoutes)
    .route("/", webhookRoutes)
    .route("/", ownerWebhookRoutes)
    .route("/", worktreesRoutes)
    .route("/", archiveRoutes)
    .route("/", grepRoutes);
  api.onError((error) => answerError(error));
  api.doc31("/openapi.json", API_DESCRIPTION);
  // Must be the last route, since the outer app would answer in plain text.
  const findMethods = indexMethods(api.routes);
  api.all("*", ({ req }) => answerUnrouted(findMethods(req.path.slice(req.path.indexOf("/", 1)))));
  return api;
}

/** The API's type, from which a typed client is made. */
export type RestApp = ReturnType<typeof createRestApp>;

/** Indexes the paths of routes.
 * @returns a function that lists the methods for which a path is served */
function indexMethods(routes: readonly { method: string; path: string }[]): (path: string) => string[] {
  const router = new TrieRouter<string>();
  // A handler for all methods is middleware.
  for (const { method, path } of routes) if (method !== "ALL") router.add("ALL", path, method);
  return (path) => [...new Set(router.match("ALL", path)[0].map(([method]) => method))];
}

/** Answers a request that no route serves: 405 when the path exists for other methods, else 404.
 * @see RFC 9110, section 15.5.6 */
function answerUnrouted(methods: readonly string[]): Response {
  if (methods.length === 0) return answerError(new GitError("not-found", { what: "route" }));
  const allowed = methods.includes("GET") ? ["HEAD", ...methods] : methods;
  const error = { code: "method-not-allowed", message: `method not allowed: use ${allowed.join(" or ")}` };
  return Response.json({ error }, { status: 405, headers: { Allow: allowed.join(", "), "Cache-Control": "no-store" } });
}
