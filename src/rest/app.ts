// The REST API: JSON over HTTP under /api, described as OpenAPI by the very schemas that check it. It runs in the Worker: what is
// malformed never reaches a repository's object. A resource is one file, which exports its routes as an app of its own (`newRoutes`); each
// declares what right it needs (`defineRoute`), and finds the repository opened for that (`repositoryOf(context)`). It is mounted here. What all share is in `error`, `schemas`, `paging`,
// `conditional` and `request-body`; no resource knows another.
import type { MiddlewareHandler } from "hono";
import { commitRoutes } from "./commits.ts";
import { compareRoutes } from "./compare.ts";
import { branchRoutes } from "./branches.ts";
import { activityRoutes } from "./activity.ts";
import { contributorRoutes } from "./contributors.ts";
import { backupRoutes } from "./backup.ts";
import { blameRoutes } from "./blame.ts";
import { archiveRoutes } from "./archive.ts";
import { answerError } from "./error.ts";
import { filesRoutes } from "./files.ts";
import { fsckRoutes } from "./fsck.ts";
import { gitObjectRoutes } from "./git-objects.ts";
import { languageRoutes } from "./languages.ts";
import { logRoutes } from "./log.ts";
import { grepRoutes } from "./grep.ts";
import { maintenanceRoutes } from "./maintenance.ts";
import { mergeRoutes } from "./merge.ts";
import { mergeBaseRoutes } from "./merge-base.ts";
import { protectedRefRoutes } from "./protected-refs.ts";
import { quotaRoutes } from "./quotas.ts";
import { refRoutes } from "./refs.ts";
import { pushRoutes } from "./pushes.ts";
import { newCommitRoutes } from "./new-commit.ts";
import { rawRoutes } from "./raw.ts";
import { repositoryRoutes } from "./repositories.ts";
import { newRoutes, type RestEnv, type RestHost } from "./routes.ts";
import { tagRoutes } from "./tags.ts";
import { tokenRoutes } from "./tokens.ts";
import { statsRoutes } from "./stats.ts";
import { answerUnrouted, indexMethods } from "./unrouted.ts";
import { worktreesRoutes } from "./worktrees.ts";

/** What the API's document says of it as a whole. */
export const API_DESCRIPTION = {
  openapi: "3.1.0",
  info: {
    title: "Holdfast",
    version: "1",
    description:
      "Read and change Git repositories over HTTP. `ref` is what `git rev-parse` takes: a branch, a tag, an id or the beginning of one, HEAD, each with `~n` and `^n`; " +
      "in a path its slashes are written `%2F`. A short name that several refs have stands for the branch, not for the tag; the header `Holdfast-Ambiguous` of the answer names " +
      "what it may stand for, first what was taken (`refs/heads/main, refs/tags/main`; a semicolon before the next name). A full name, `refs/tags/main`, stands for itself. A token goes in the header `Authorization`, as Bearer; each route names the right that it needs of it (`x-needs`): " +
      "read, write or admin for the repository, operate for the deployment's admin token alone, any token where it depends on the body; what is public is read without one. Lists come in pages: `nextCursor` of one is `cursor` of the next. Errors are `{error: {code, message}}`.",
  },
};

/** Makes the API's app, to be mounted under `/api`.
 * @param hostOf what a request runs on */
export function createRestApp(hostOf: (context: Parameters<MiddlewareHandler<RestEnv>>[0]) => RestHost) {
  const app = newRoutes();
  app.use("*", async (context, next) => {
    context.set("host", hostOf(context));
    await next();
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  app.openAPIRegistry.registerComponent("securitySchemes", "basic", {
    type: "http",
    scheme: "basic",
    description: "the token is the password; the name does not matter",
  });
  const api = app
    .route("/", repositoryRoutes)
    .route("/", tokenRoutes)
    .route("/", quotaRoutes)
    .route("/", maintenanceRoutes)
    .route("/", fsckRoutes)
    .route("/", backupRoutes)
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
    .route("/", compareRoutes)
    .route("/", statsRoutes)
    .route("/", languageRoutes)
    .route("/", contributorRoutes)
    .route("/", activityRoutes)
    .route("/", pushRoutes)
    .route("/", worktreesRoutes)
    .route("/", archiveRoutes)
    .route("/", grepRoutes);
  api.onError((error) => answerError(error));
  api.doc31("/openapi.json", API_DESCRIPTION);
  // Behind all routes: the app that this is mounted in would answer in plain text.
  const findMethods = indexMethods(api.routes);
  api.all("*", ({ req }) => answerUnrouted(findMethods(req.path.slice(req.path.indexOf("/", 1)))));
  return api;
}

/** The API's type, from which a typed client is made. */
export type RestApp = ReturnType<typeof createRestApp>;
