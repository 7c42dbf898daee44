import { beforeAll, expect, test } from "vitest";
import type { OpenApiDocument, Operation, Schema, Schemas } from "../../src/web/api-docs/open-api.ts";
import { exampleOf } from "../../src/web/api-docs/request-example.ts";
import { resolve } from "../../src/web/api-docs/schema-text.ts";
import { askApi } from "../harness/api.ts";
import { git, makeRepository } from "../harness/git.ts";
import { request } from "../harness/raw.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";

interface Documented {
  /** Such as `PUT /repos/{owner}/{repo}/refs/{name}`. */
  readonly name: string;
  readonly method: string;
  /** Below `/api`, with values for its parameters. */
  readonly path: string;
  readonly operation: Operation;
}

let server: Pick<Server, "url">;
let schemas: Schemas;
let operations: Documented[];

beforeAll(async () => {
  server = await shareServer("documented");
  const dir = await makeRepository("source");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await git(dir, "push", "-q", `${server.url}/documented/repo.git`, "main");
  const { body: document } = await askApi<OpenApiDocument>(server, "/openapi.json");
  schemas = document.components!.schemas!;
  operations = Object.entries(document.paths!).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: fill(path, operation),
      operation,
    })),
  );
});

/** Fills a path's parameters with values that its schemas take, and required ones of the query. */
function fill(path: string, { parameters = [] }: Operation): string {
  const known: Record<string, string> = { owner: "documented", repo: "repo", file: "main.zip" };
  const valueOf = (name: string, schema: Schema = {}): string => {
    const { format, example = exampleOf(schemas, schema) } = resolve(schemas, schema);
    return known[name] ?? (format === "uuid" ? "5e0cdb9c-0f1c-4c5e-9d2f-0a4c6f1f3b11" : String(example));
  };
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: place, required, schema } of parameters) {
    if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(valueOf(name, schema)));
    else if (required === true) query.append(name, valueOf(name, schema));
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

test("a request without a body, told by `Content-Length: 0`, is answered as one without the header", async () => {
  const changing = operations.filter(({ method }) => method !== "GET");
  expect(changing.length).toBeGreaterThan(40);
  const wrong: string[] = [];
  for (const { name, method, path } of changing) {
    for (const type of [undefined, "application/json"]) {
      const headers = { "content-length": "0", ...(type !== undefined && { "content-type": type }) };
      const { status, body } = await request(`${server.url}/api${path}`, { method, headers });
      if (status >= 500 || status === 400 || status === 415)
        wrong.push(`${name} (${type}): ${status} ${body.toString()}`);
    }
  }
  expect(wrong).toEqual([]);
});
