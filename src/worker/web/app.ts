// The pages for browsers. Each page is a row here: its path, the right that it needs, and a
// function in `pages`. The repository in a row's path is opened with that right; pages have no
// other access to it.
import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import type { Right } from "../../base/access/caller.ts";
import { isGitError } from "../../base/format/errors.ts";
import { AMBIGUITY_HEADER, showAmbiguities } from "../../base/format/ambiguities.ts";
import { ASSETS, PROGRAMS, serveAsset, serveProgram } from "./assets/assets.ts";
import { activityPage } from "./pages/activity.tsx";
import { archivePage, rawPage } from "./pages/raw.ts";
import { blamePage } from "./pages/blame.tsx";
import { branchesPage, createBranch, deleteBranch } from "./pages/branches.tsx";
import { COMMIT_QUERY, commitPage } from "./pages/commit.tsx";
import { COMPARE_QUERY, comparePage, mergeCompared } from "./pages/compare.tsx";
import { contributorsPage } from "./pages/contributors.tsx";
import { deletePage, deletePath } from "./pages/delete.tsx";
import { editPage, newFilePage, saveFile, saveNewFile } from "./pages/edit.tsx";
import { feedPage } from "./pages/feeds.ts";
import { findPage } from "./pages/find.tsx";
import { fork, forkPage, syncFork } from "./pages/fork.tsx";
import { liveEvents } from "./pages/live.ts";
import { LOG_QUERY, logPage } from "./pages/log.tsx";
import { createPage, newRepositoryPage } from "./pages/new-repository.tsx";
import { blobPage, treePage } from "./pages/path.tsx";
import { repositoryPage } from "./pages/repository.tsx";
import { SEARCH_QUERY, searchPage } from "./pages/search.tsx";
import { lfsPage, unlockLocked } from "./pages/settings-lfs.tsx";
import { maintenancePage, runCheck, runMaintenance } from "./pages/settings-maintenance.tsx";
import { protectedPage, saveProtected } from "./pages/settings-protected.tsx";
import { pushesPage, saveQuota } from "./pages/settings-pushes.tsx";
import {
  makeOwnerToken,
  makeToken,
  ownerTokensPage,
  revokeOwnerToken,
  revokeToken,
  tokensPage,
} from "./pages/settings-tokens.tsx";
import { changeMirror, makeMirror, mirrorsPage } from "./pages/settings-mirrors.tsx";
import { changeWebhook, makeWebhook, webhooksPage } from "./pages/settings-webhooks.tsx";
import { saveWorktrees, worktreesPage } from "./pages/settings-worktrees.tsx";
import { deleteRepository, deleteRepositoryPage, saveSettings, settingsPage } from "./pages/settings.tsx";
import { signIn, signInPage, signOut } from "./pages/sign-in.tsx";
import { ownerPage, startPage } from "./pages/start.tsx";
import { tagPage } from "./pages/tag.tsx";
import { deleteTag, tagsPage } from "./pages/tags.tsx";
import { upload, uploadPage } from "./pages/upload.tsx";
import { showError, showMissing } from "./parts/error-page.tsx";
import { refuseCrossSite } from "./parts/forms.ts";
import { checkQuery } from "./parts/query.ts";
import { placeUrl, signInUrl } from "./parts/urls.ts";
import type { OpenedPlace, PageContext, WebEnv, WebHost } from "./parts/web-env.ts";
import type { Ambiguities } from "../../contract/calls.ts";

/** A page. */
export interface PageRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Right to the repository in the path; null: the path names none. */
  readonly needed: Right | null;
  readonly show: (context: PageContext) => Promise<Response>;
  /** Query parameters. Default: none. */
  readonly query?: readonly string[];
}

/** All pages. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  { method: "GET", path: "/", needed: null, show: startPage, query: ["q", "after"] },
  { method: "GET", path: "/-/sign-in", needed: null, show: signInPage, query: ["to"] },
  { method: "POST", path: "/-/sign-in", needed: null, show: signIn },
  { method: "POST", path: "/-/sign-out", needed: null, show: signOut },
  { method: "GET", path: "/-/new", needed: null, show: newRepositoryPage, query: ["owner"] },
  { method: "POST", path: "/-/new", needed: null, show: createPage },
  { method: "GET", path: "/-/tokens/:owner", needed: null, show: ownerTokensPage, query: ["after"] },
  { method: "POST", path: "/-/tokens/:owner", needed: null, show: makeOwnerToken },
  { method: "POST", path: "/-/tokens/:owner/revoke", needed: null, show: revokeOwnerToken },
  { method: "GET", path: "/:owner", needed: null, show: ownerPage, query: ["q", "after"] },
  { method: "GET", path: "/:owner/:repo", needed: "read", show: repositoryPage },
  // Redirects to the path without the slash.
  { method: "GET", path: "/:owner/:repo/", needed: "read", show: repositoryPage },
  { method: "GET", path: "/:owner/:repo/tree/*", needed: "read", show: treePage, query: ["after"] },
  { method: "GET", path: "/:owner/:repo/blob/*", needed: "read", show: blobPage, query: ["plain"] },
  { method: "GET", path: "/:owner/:repo/raw/*", needed: "read", show: rawPage, query: ["lfs"] },
  { method: "GET", path: "/:owner/:repo/blame/*", needed: "read", show: blamePage, query: ["before"] },
  { method: "GET", path: "/:owner/:repo/commits/*", needed: "read", show: logPage, query: LOG_QUERY },
  { method: "GET", path: "/:owner/:repo/commit/*", needed: "read", show: commitPage, query: COMMIT_QUERY },
  { method: "GET", path: "/:owner/:repo/compare/*", needed: "read", show: comparePage, query: COMPARE_QUERY },
  { method: "POST", path: "/:owner/:repo/compare/*", needed: "write", show: mergeCompared },
  { method: "GET", path: "/:owner/:repo/branches", needed: "read", show: branchesPage, query: ["start"] },
  { method: "POST", path: "/:owner/:repo/branches", needed: "write", show: createBranch },
  { method: "POST", path: "/:owner/:repo/branches/delete", needed: "write", show: deleteBranch },
  { method: "GET", path: "/:owner/:repo/tags", needed: "read", show: tagsPage, query: ["start"] },
  { method: "GET", path: "/:owner/:repo/tag/*", needed: "read", show: tagPage, query: ["part"] },
  { method: "POST", path: "/:owner/:repo/tags/delete", needed: "write", show: deleteTag },
  { method: "GET", path: "/:owner/:repo/activity", needed: "read", show: activityPage },
  { method: "GET", path: "/:owner/:repo/contributors", needed: "read", show: contributorsPage, query: ["start"] },
  { method: "GET", path: "/:owner/:repo/archive/*", needed: "read", show: archivePage },
  { method: "GET", path: "/:owner/:repo/feed/*", needed: "read", show: feedPage },
  { method: "GET", path: "/:owner/:repo/search", needed: "read", show: searchPage, query: SEARCH_QUERY },
  { method: "GET", path: "/:owner/:repo/find/*", needed: "read", show: findPage, query: ["q"] },
  { method: "GET", path: "/:owner/:repo/fork", needed: "read", show: forkPage },
  { method: "POST", path: "/:owner/:repo/fork", needed: "read", show: fork },
  { method: "POST", path: "/:owner/:repo/sync", needed: "write", show: syncFork },
  { method: "GET", path: "/:owner/:repo/live", needed: "read", show: liveEvents, query: ["after"] },
  { method: "GET", path: "/:owner/:repo/settings", needed: "admin", show: settingsPage },
  { method: "POST", path: "/:owner/:repo/settings", needed: "admin", show: saveSettings },
  { method: "GET", path: "/:owner/:repo/settings/protected", needed: "admin", show: protectedPage },
  { method: "POST", path: "/:owner/:repo/settings/protected", needed: "admin", show: saveProtected },
  { method: "GET", path: "/:owner/:repo/settings/tokens", needed: "admin", show: tokensPage, query: ["after"] },
  { method: "POST", path: "/:owner/:repo/settings/tokens", needed: "admin", show: makeToken },
  { method: "POST", path: "/:owner/:repo/settings/tokens/revoke", needed: "admin", show: revokeToken },
  { method: "GET", path: "/:owner/:repo/settings/webhooks", needed: "admin", show: webhooksPage, query: ["webhook"] },
  { method: "POST", path: "/:owner/:repo/settings/webhooks", needed: "admin", show: makeWebhook },
  { method: "POST", path: "/:owner/:repo/settings/webhooks/change", needed: "admin", show: changeWebhook },
  { method: "GET", path: "/:owner/:repo/settings/mirrors", needed: "admin", show: mirrorsPage },
  { method: "POST", path: "/:owner/:repo/settings/mirrors", needed: "admin", show: makeMirror },
  { method: "POST", path: "/:owner/:repo/settings/mirrors/change", needed: "admin", show: changeMirror },
  { method: "GET", path: "/:owner/:repo/settings/lfs", needed: "admin", show: lfsPage, query: ["after"] },
  { method: "POST", path: "/:owner/:repo/settings/lfs", needed: "admin", show: unlockLocked },
  { method: "GET", path: "/:owner/:repo/settings/pushes", needed: "admin", show: pushesPage, query: ["before"] },
  { method: "POST", path: "/:owner/:repo/settings/pushes", needed: "operate", show: saveQuota },
  { method: "GET", path: "/:owner/:repo/settings/maintenance", needed: "admin", show: maintenancePage },
  { method: "POST", path: "/:owner/:repo/settings/maintenance", needed: "admin", show: runMaintenance },
  { method: "POST", path: "/:owner/:repo/settings/maintenance/check", needed: "admin", show: runCheck },
  { method: "GET", path: "/:owner/:repo/settings/worktrees", needed: "admin", show: worktreesPage },
  { method: "POST", path: "/:owner/:repo/settings/worktrees", needed: "admin", show: saveWorktrees },
  { method: "GET", path: "/:owner/:repo/settings/delete", needed: "admin", show: deleteRepositoryPage },
  { method: "POST", path: "/:owner/:repo/settings/delete", needed: "admin", show: deleteRepository },
  { method: "GET", path: "/:owner/:repo/edit/*", needed: "write", show: editPage },
  { method: "POST", path: "/:owner/:repo/edit/*", needed: "write", show: saveFile },
  { method: "GET", path: "/:owner/:repo/new/*", needed: "write", show: newFilePage },
  { method: "POST", path: "/:owner/:repo/new/*", needed: "write", show: saveNewFile },
  { method: "GET", path: "/:owner/:repo/upload/*", needed: "write", show: uploadPage },
  { method: "POST", path: "/:owner/:repo/upload/*", needed: "write", show: upload },
  { method: "GET", path: "/:owner/:repo/delete/*", needed: "write", show: deletePage },
  { method: "POST", path: "/:owner/:repo/delete/*", needed: "write", show: deletePath },
];

/** A page, or the answer for a missing one. */
interface AnyPage extends Omit<PageRoute, "path" | "query"> {
  /** Null: all are accepted. */
  readonly query?: readonly string[] | null;
}

/** Makes the app of the pages, to be mounted at `/` after all routes with paths of their own.
 * Clients other than browsers also request paths of one or two parts: these requests, and theirs
 * for unknown paths, go to the next handler.
 * @param hostOf returns the host's services for a request */
export function createWebApp(hostOf: (context: PageContext) => WebHost): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  app.get(`${ASSETS}:file`, async (context, next) => serveAsset(context.req.path) ?? next());
  for (const path of Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]) app.get(path, () => serveProgram(path));
  const answer = async (context: PageContext, { method, needed, show, query = [] }: AnyPage): Promise<Response> => {
    context.set("host", hostOf(context));
    try {
      if (query !== null) checkQuery(new URL(context.req.url).searchParams, query);
      if (method === "POST") refuseCrossSite(context.req.raw);
      const moved = needed === null ? null : await admit(context, needed);
      return moved ?? tellAmbiguities(context, await show(context));
    } catch (error) {
      return showError(context, error);
    }
  };
  for (const route of PAGE_ROUTES) {
    const isShared =
      route.path.split("/", 5).filter((part) => part !== "").length <= 2 && !route.path.startsWith("/-/");
    app.on(route.method, [route.path], async (context, next) =>
      isShared && !wantsPage(context) ? next() : answer(context, route),
    );
  }
  const missing: AnyPage = { method: "GET", needed: null, show: showMissing, query: null };
  app.get("*", async (context, next) => (wantsPage(context) ? answer(context, missing) : next()));
  return app;
}

/** Reports ambiguous names in a header, for programs that read feeds, patches, files and archives.
 * Pages show them as text. */
function tellAmbiguities(context: PageContext, response: Response): Response {
  const ambiguities = context.get("ambiguities") ?? [];
  if (ambiguities.length > 0) response.headers.set(AMBIGUITY_HEADER, showAmbiguities(ambiguities));
  return response;
}

/** Whether the client prefers HTML to plain text, as browsers do. */
function wantsPage(context: Context): boolean {
  const supports = ["text/plain", "text/html"];
  return accepts(context, { header: "Accept", supports, default: "text/plain" }) === "text/html";
}

/** Opens the repository in the path for a visitor with the right that the page needs.
 * @returns null when opened; a redirection to the repository's current URL, or to the sign-in page
 * for an anonymous visitor who may only read the repository
 * @throws GitError as `WebHost.openPlace` */
async function admit(context: PageContext, needed: Right): Promise<Response | null> {
  const { owner, repo } = context.req.param() as { owner: string; repo: string };
  const host = context.get("host");
  context.set("ambiguities", []);
  const note = (more: Ambiguities): void => context.set("ambiguities", [...context.get("ambiguities"), ...more]);
  const { pathname, search } = new URL(context.req.url);
  let opened: OpenedPlace;
  try {
    opened = await host.openPlace(owner, repo, needed, note);
  } catch (error) {
    if (needed === "read" || !isGitError(error, "unauthenticated")) throw error;
    await host.openPlace(owner, repo, "read", note);
    return context.redirect(signInUrl(pathname + search), 303);
  }
  const { client, isFormer, ...place } = opened;
  if (isFormer || repo.endsWith(".git") || pathname.endsWith("/")) {
    const below = pathname.split("/").slice(3).join("/").replace(/\/+$/, "");
    return context.redirect(placeUrl(place, below) + search, context.req.method === "POST" ? 307 : 302);
  }
  context.set("place", place);
  context.set("repository", client);
  return null;
}
