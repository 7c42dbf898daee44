import type { Child } from "hono/jsx";
import { ICON, SCRIPT, STYLE } from "../assets/assets.ts";
import { signInUrl } from "./urls.ts";
import type { Visitor } from "./web-env.ts";

/** The parts of every page around its content. */
interface Frame {
  /** Title of the page, without the server's name. */
  readonly title: string;
  /** Summary for search engines. */
  readonly description: string;
  /** The canonical URL for all variants of the page; null: none. */
  readonly canonical: string | null;
  readonly visitor: Visitor;
  /** Path and query of the page, to return to after sign-in. */
  readonly here: string;
  /** Elements for `<head>`. */
  readonly head?: Child;
}

/** A whole page. */
export function Layout({ title, description, canonical, visitor, here, head, children }: Frame & { children?: Child }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title === "Holdfast" ? title : `${title} · Holdfast`}</title>
        <link rel="stylesheet" href={STYLE.url} />
        <script src={SCRIPT.url} defer />
        <link rel="icon" type="image/svg+xml" href={ICON.url} />
        <meta name="description" content={description} />
        {canonical !== null && <link rel="canonical" href={canonical} />}
        {head}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="top">
          <a class="home" href="/">
            Holdfast
          </a>
          <SignedIn visitor={visitor} here={here} />
        </header>
        <main id="main">{children}</main>
        <footer class="bottom">
          <a href="/api/docs">API</a>
        </footer>
      </body>
    </html>
  );
}

/** The visitor's name, and the link to sign in or out. */
function SignedIn({ visitor, here }: { visitor: Visitor; here: string }) {
  switch (visitor.kind) {
    case "anyone":
      return null;
    case "anonymous":
      return (
        <nav aria-label="Account">
          <a href={signInUrl(here)}>Sign in</a>
        </nav>
      );
    case "signed-in":
      return (
        <form class="account" method="post" action="/-/sign-out">
          <span class="muted">{visitor.name}</span> <button class="quiet">Sign out</button>
        </form>
      );
  }
}
