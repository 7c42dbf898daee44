import { GitError } from "../../../base/format/errors.ts";
import { signInUrl } from "./urls.ts";
import type { MayCreate, PageContext } from "./web-env.ts";

/** Returns the owners for which the visitor may create repositories, or a redirection to the
 * sign-in page and back.
 * @throws GitError "forbidden" for a visitor who is signed in */
export async function demandMayCreate(context: PageContext): Promise<NonNullable<MayCreate> | Response> {
  const host = context.get("host");
  const mayCreate = await host.mayCreate();
  if (mayCreate !== null) return mayCreate;
  const { pathname, search } = new URL(context.req.url);
  if ((await host.visitor()).kind === "anonymous") return context.redirect(signInUrl(pathname + search), 303);
  const reason = "it needs a token with the right 'write' for everything of an owner";
  throw new GitError("forbidden", { what: "making a repository", reason });
}
