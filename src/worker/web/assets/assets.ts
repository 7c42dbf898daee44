// The style sheet, the script and the icon of all pages, and the programs of `helper`, which users
// download. URLs of assets contain a digest of the content, so that browsers cache them
// permanently.
import { createHash } from "node:crypto";
import lfsAgent from "../../../../helper/dist/git-lfs-holdfast.cjs" with { type: "text" };
import remoteHelper from "../../../../helper/dist/git-remote-holdfast.cjs" with { type: "text" };
import script from "./script.js" with { type: "text" };
import style from "./style.css" with { type: "text" };

interface Asset {
  readonly url: string;
  readonly type: string;
  readonly text: string;
}

const DIGEST_LENGTH = 12;

/** Path prefix of the assets. */
export const ASSETS = "/-/assets/";

export const STYLE = describe("style", "css", "text/css; charset=utf-8", style);
export const SCRIPT = describe("script", "js", "text/javascript; charset=utf-8", script);

export const ICON = describe(
  "icon",
  "svg",
  "image/svg+xml",
  // A castle keep, in the accent colour of the light scheme.
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b5cad"/><path d="M3 13V3h2v2h2V3h2v2h2V3h2v10H9.500v-3h-3v3z" fill="#fff"/></svg>`,
);

/** Programs that run beside git, as single files: their texts by path. */
export const PROGRAMS = { "/-/git-remote-holdfast": remoteHelper, "/-/git-lfs-holdfast": lfsAgent };

/** Answers with a program. */
export function serveProgram(path: keyof typeof PROGRAMS): Response {
  const headers = {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Disposition": `attachment; filename="${path.slice("/-/".length)}"`,
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
  };
  return new Response(PROGRAMS[path], { headers });
}

/** Answers a request for an asset; null: there is none at this path. */
export function serveAsset(path: string): Response | null {
  const asset = [STYLE, SCRIPT, ICON].find(({ url }) => url === path);
  if (asset === undefined) return null;
  const headers = {
    "Content-Type": asset.type,
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
  };
  return new Response(asset.text, { headers });
}

function describe(name: string, extension: string, type: string, text: string): Asset {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_LENGTH);
  return { url: `${ASSETS}${name}.${digest}.${extension}`, type, text };
}
