import { hc } from "hono/client";
import type { RestApp } from "./app.ts";

/** Options of a client. */
export interface ClientOptions {
  /** Sent as a Bearer token. */
  readonly token?: string;
  /** Used in place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** A client of the API, typed by its routes: `client.repos[":owner"][":repo"].log.$get({ param,
 * query })`.
 * @param url of the server, such as "https://git.example.com"
 * @see https://hono.dev/docs/guides/rpc */
export function newClient(url: string, { token, fetch: send }: ClientOptions = {}) {
  return hc<RestApp>(`${url.replace(/\/$/, "")}/api`, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    ...(send === undefined ? {} : { fetch: send }),
  });
}
