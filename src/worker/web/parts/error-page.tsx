import { type GitErrorCode, isGitError, statusOf } from "../../../base/format/errors.ts";
import { logFailure } from "../../../base/format/failure-log.ts";
import { explainFailure } from "../../../base/failures/known-failures.ts";
import { showPage } from "./show-page.tsx";
import { signInUrl } from "./urls.ts";
import type { PageContext } from "./web-env.ts";

/** Headings by status. */
const HEADINGS: Readonly<Record<number, string>> = {
  400: "This request makes no sense",
  403: "Not allowed",
  404: "Not found",
  405: "Not possible here",
  409: "Something has changed meanwhile",
  413: "Too large",
  422: "Not valid",
  429: "Too many attempts",
  503: "Not available for now",
};

/** Failures that hide whether something exists: a private repository looks like a missing one. */
const HIDING: ReadonlySet<GitErrorCode> = new Set(["not-found", "unauthenticated"]);

/** Answers any thrown value with a page. The details of server errors go to the log only. */
export async function showError(context: PageContext, thrown: unknown): Promise<Response> {
  const error = explainFailure(thrown);
  if (isGitError(error) && HIDING.has(error.code)) return showMissing(context);
  const status = isGitError(error) ? statusOf(error.code) : 500;
  if (status >= 500) logFailure(error);
  const reason = isGitError(error) && status !== 500 ? error.message : "The server failed.";
  const retryAfterMs = isGitError(error) ? error.data.retryAfterMs : undefined;
  const heading = HEADINGS[status] ?? "Something went wrong";
  return showPage(context, {
    title: heading,
    status,
    headers: {
      "Cache-Control": "no-store",
      ...(typeof retryAfterMs === "number" && { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) }),
    },
    content: (
      <div class="message">
        <h1>{heading}</h1>
        <p>{reason}</p>
        <p class="muted">
          Request <code>{context.get("host").requestId}</code>
        </p>
      </div>
    ),
  });
}

/** The page for a thing that is missing, or that the visitor may not see. It reveals nothing
 * else. */
export async function showMissing(context: PageContext): Promise<Response> {
  const visitor = await context.get("host").visitor();
  const { pathname, search } = new URL(context.req.url);
  return showPage(context, {
    title: "Not found",
    status: 404,
    headers: { "Cache-Control": "no-store" },
    content: (
      <div class="message">
        <h1>Not found</h1>
        <p>There is nothing here, or it is not public.</p>
        {visitor.kind === "anonymous" && (
          <p>
            <a href={signInUrl(pathname + search)}>Sign in</a> to see what your token may see.
          </p>
        )}
      </div>
    ),
  });
}
