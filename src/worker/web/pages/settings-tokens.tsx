import type { Child } from "hono/jsx";
import { GitError, isGitError } from "../../../base/format/errors.ts";
import { isOwnerName } from "../../../base/format/repository-name.ts";
import type { Place } from "../../shared/deployment.ts";
import { type Faults, NO_FAULTS } from "../parts/fields.tsx";
import { invalid, refusalOf } from "../parts/form-faults.ts";
import { readForm, textOf } from "../parts/forms.ts";
import { settingsUrl, showSettings } from "../parts/settings-frame.tsx";
import { showPage } from "../parts/show-page.tsx";
import {
  checkTypedToken,
  NEW_TOKEN,
  NewTokenForm,
  PAGE_TOKENS,
  readTypedToken,
  TOKEN_FIELDS,
  TokenList,
  toNewToken,
  type TypedToken,
} from "../parts/token-forms.tsx";
import type { PageContext } from "../parts/web-env.ts";
import { ShownOnce } from "../parts/shown-once.tsx";

const MAX_FORM_BYTES = 64 * 1024;

/** A page of tokens for a repository or an owner. */
interface TokenPage {
  readonly place: Place;
  /** URL of the list. */
  readonly url: string;
  readonly show: (status: number, children: Child) => Promise<Response>;
}

/** `/{owner}/{repo}/settings/tokens`: the tokens of a repository. */
export const tokensPage = (context: PageContext) => showTokens(context, repositoryTokens(context));
export const makeToken = (context: PageContext) => make(context, repositoryTokens(context));
export const revokeToken = (context: PageContext) => revoke(context, repositoryTokens(context));

/** `/-/tokens/{owner}`: the tokens for everything of an owner. */
export const ownerTokensPage = (context: PageContext) => showTokens(context, ownerTokens(context));
export const makeOwnerToken = (context: PageContext) => make(context, ownerTokens(context));
export const revokeOwnerToken = (context: PageContext) => revoke(context, ownerTokens(context));

function repositoryTokens(context: PageContext): TokenPage {
  const { owner, name } = context.get("place");
  return {
    place: { owner, repository: name },
    url: settingsUrl(context, "tokens"),
    show: (status, children) => showSettings(context, "tokens", { status, children }),
  };
}

function ownerTokens(context: PageContext): TokenPage {
  const owner = context.req.param("owner")!;
  if (!isOwnerName(owner)) throw new GitError("not-found", { what: "owner" });
  return {
    place: { owner },
    url: `/-/tokens/${owner}`,
    show: (status, children) =>
      showPage(context, {
        title: `Tokens · ${owner}`,
        status,
        headers: { "Cache-Control": "no-store" },
        content: (
          <>
            <h1>{owner}</h1>
            <p>
              <a href={`/${owner}`}>Repositories</a>
            </p>
            <h2>Tokens for everything of {owner}</h2>
            {children}
          </>
        ),
      }),
  };
}

async function make(context: PageContext, page: TokenPage): Promise<Response> {
  const typed = readTypedToken(await readForm(context.req.raw, MAX_FORM_BYTES));
  const faults = checkTypedToken(typed);
  if (Object.keys(faults).length > 0) return showTokens(context, page, { typed, ...invalid(faults) });
  try {
    const { text } = await context.get("host").tokens.create(page.place, toNewToken(typed));
    // No redirection: the token is shown once, and no URL may contain it.
    return await showTokens(context, page, { typed: NEW_TOKEN, faults: NO_FAULTS, status: 201, made: text });
  } catch (error) {
    return showTokens(context, page, { typed, ...refusalOf(error, TOKEN_FIELDS) });
  }
}

/** Revokes a token. One that is gone already counts as revoked. */
async function revoke(context: PageContext, page: TokenPage): Promise<Response> {
  const id = textOf(await readForm(context.req.raw, MAX_FORM_BYTES), "id");
  try {
    // `current` would revoke the visitor's own token.
    if (id !== "current") await context.get("host").tokens.revoke(id);
  } catch (error) {
    if (!isGitError(error, "not-found")) throw error;
  }
  return context.redirect(page.url, 303);
}

async function showTokens(
  context: PageContext,
  page: TokenPage,
  sent: { typed: TypedToken; faults: Faults; status: number; made?: string } = {
    typed: NEW_TOKEN,
    faults: NO_FAULTS,
    status: 200,
  },
): Promise<Response> {
  const host = context.get("host");
  const after = new URL(context.req.url).searchParams.get("after") ?? "";
  const found = await host.tokens.list(page.place, after, PAGE_TOKENS + 1);
  const tokens = found.slice(0, PAGE_TOKENS);
  const visitor = await host.visitor();
  const own = visitor.kind === "signed-in" ? visitor.id : null;
  return page.show(
    sent.status,
    <>
      {sent.made !== undefined && <ShownOnce what="Token" text={sent.made} />}
      <TokenList tokens={tokens} action={page.url} own={own} />
      {found.length > tokens.length && (
        <p>
          <a class="button" href={`${page.url}?after=${tokens.at(-1)!.id}`}>
            More
          </a>
        </p>
      )}
      <NewTokenForm action={page.url} typed={sent.typed} faults={sent.faults} />
    </>,
  );
}
