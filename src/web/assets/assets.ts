// The style sheet and the script of all pages. Their URLs contain a digest of what they hold, so that
// browsers keep them for good.
import { createHash } from "node:crypto";
import script from "./script.js" with { type: "text" };
import style from "./style.css" with { type: "text" };

interface Asset {
  readonly url: string;
  readonly type: string;
  readonly text: string;
}

const DIGEST_LENGTH = 12;

/** Below this path are the assets. */
export const ASSETS = "/-/assets/";

export const STYLE = describe("style", "css", "text/css; charset=utf-8", style);
export const SCRIPT = describe("script", "js", "text/javascript; charset=utf-8", script);

/** Answers a request for an asset; null: there is none at this path. */
export function serveAsset(path: string): Response | null {
  const asset = [STYLE, SCRIPT].find(({ url }) => url === path);
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
