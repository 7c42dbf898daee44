import { isGitError } from "../../../base/format/errors.ts";
import { readForm } from "../parts/forms.ts";
import { showPage } from "../parts/show-page.tsx";
import type { PageContext } from "../parts/web-env.ts";

/** Maximum size in bytes of the form: a token, and a path to return to. */
const MAX_FORM_BYTES = 16 * 1024;

/** `GET /-/sign-in`. */
export async function signInPage(context: PageContext): Promise<Response> {
  const to = pathToReturnTo(context, new URL(context.req.url).searchParams.get("to"));
  const { kind } = await context.get("host").visitor();
  return kind === "anonymous" ? showForm(context, to, null) : context.redirect(to, 303);
}

/** `POST /-/sign-in`. */
export async function signIn(context: PageContext): Promise<Response> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const to = pathToReturnTo(context, form.get("to"));
  try {
    const cookie = await context.get("host").signIn((form.get("token") ?? "").trim());
    return redirectWith(context, cookie, to);
  } catch (error) {
    if (!isGitError(error, "unauthenticated")) throw error;
    return showForm(context, to, "This token is unknown, revoked or expired.");
  }
}

/** `POST /-/sign-out`. */
export async function signOut(context: PageContext): Promise<Response> {
  return redirectWith(context, await context.get("host").signOut(), "/");
}

/** @param fault why the form is shown again; null: it is shown for the first time */
function showForm(context: PageContext, to: string, fault: string | null): Promise<Response> {
  return showPage(context, {
    title: "Sign in",
    status: fault === null ? 200 : 403,
    headers: { "Cache-Control": "no-store" },
    content: (
      <form class="message" method="post" action="/-/sign-in">
        <h1>Sign in</h1>
        <p>A token lets you see and do here what it lets git do. Your browser stays signed in for 30 days at most.</p>
        {fault !== null && (
          <p class="fault" id="fault" role="alert">
            {fault}
          </p>
        )}
        <label for="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          aria-describedby={fault === null ? undefined : "fault"}
        />
        <input type="hidden" name="to" value={to} />
        <p>
          <button class="main">Sign in</button>
        </p>
      </form>
    ),
  });
}

/** Returns a path of this server's pages to return to, whatever the URL says. */
function pathToReturnTo({ req }: PageContext, to: string | null): string {
  const { origin } = new URL(req.url);
  if (to === null || !to.startsWith("/") || !URL.canParse(to, origin)) return "/";
  const url = new URL(to, origin);
  // A path that begins with two slashes would name another host.
  return url.origin === origin && !url.pathname.startsWith("//") ? url.pathname + url.search : "/";
}

function redirectWith(context: PageContext, cookie: string, to: string): Response {
  context.header("Set-Cookie", cookie);
  context.header("Cache-Control", "no-store");
  return context.redirect(to, 303);
}
