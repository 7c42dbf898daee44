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
 * query })`. Values of `param` need no encoding: names may have any characters.
 * @param url of the server, such as "https://git.example.com"
 * @see https://hono.dev/docs/guides/rpc */
export function newClient(url: string, { token, fetch: send }: ClientOptions = {}) {
  const client = hc<RestApp>(`${url.replace(/\/$/, "")}/api`, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    ...(send === undefined ? {} : { fetch: send }),
  });
  return encodeParams(client);
}

/** Makes the client encode `param`. Hono's puts values into the path unencoded: `a?b` or `a#b`
 * would become the name `a`. */
function encodeParams<Client extends object>(client: Client): Client {
  return new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? encodeParams(value) : value;
    },
    apply(target, _, [args, ...rest]: [{ param?: Record<string, string> }?, ...unknown[]]) {
      const param = args?.param;
      const encoded = param && Object.entries(param).map(([name, value]) => [name, encodeURIComponent(value)]);
      const asked = encoded === undefined ? args : { ...args, param: Object.fromEntries(encoded) };
      return Reflect.apply(target as (...all: unknown[]) => unknown, undefined, [asked, ...rest]);
    },
  });
}
