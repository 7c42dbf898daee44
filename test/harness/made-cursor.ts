import { createHash } from "node:crypto";

/** A cursor of a made-up place, bound as the server binds those of a route without parameters.
 * @param route its path below the repository's
 * @param place JSON */
export function makeCursor(route: string, place: string): string {
  const bond = createHash("sha1").update(route).digest("base64url").slice(0, 8);
  return `${bond}--------${Buffer.from(place).toString("base64url")}`;
}
