import type { Child } from "hono/jsx";

/** Markup as text, for what is sent in pieces.
 * @throws TypeError for markup that waits for something */
export function toHtml(element: Child): string {
  const html = (element as { toString(): unknown }).toString();
  if (typeof html !== "string") throw new TypeError("this markup is not there at once");
  return html;
}
