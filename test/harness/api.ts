import { authorization } from "./authorization.ts";
import type { Server } from "./server.ts";

/** A response of the REST API with its parsed body. */
export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Sends a request to the REST API.
 * @param path below `/api`, with a leading slash
 * @param init `json` is sent as the body */
export async function askApi<Body = unknown>(
  server: Pick<Server, "url">,
  path: string,
  init: RequestInit & { json?: unknown } = {},
): Promise<Answer<Body>> {
  const { json, ...rest } = init;
  const body = json === undefined ? {} : { body: JSON.stringify(json) };
  const headers = new Headers({ ...authorization(), ...Object.fromEntries(new Headers(rest.headers)) });
  if (json !== undefined) headers.set("Content-Type", "application/json");
  const response = await fetch(`${server.url}/api${path}`, { ...rest, ...body, headers });
  const text = await response.text();
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json") === true;
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as Body };
}
