import { beforeAll, expect, test } from "vitest";
import type { OpenApiDocument, Operation, Schema, Schemas } from "../../../src/worker/web/api-docs/open-api.ts";
import { exampleOf } from "../../../src/worker/web/api-docs/request-example.ts";
import { resolve } from "../../../src/worker/web/api-docs/schema-text.ts";
import { askApi } from "../../harness/api.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { request } from "../../harness/raw.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

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
  // The repository itself is not deleted.
  const repo = path.endsWith("{repo}") ? "none" : "repo";
  const known: Record<string, string> = { owner: "documented", repo, file: "main.zip" };
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

interface Refused {
  readonly error: { readonly code: string; readonly field?: string; readonly message: string };
}

test("a query parameter that an operation does not have is refused by its name", async () => {
  const wrong: string[] = [];
  for (const { name, method, path } of operations) {
    const asked = `${path}${path.includes("?") ? "&" : "?"}expectd=1`;
    const { status, body } = await askApi<Refused>(server, asked, { method });
    if (status !== 422 || body.error.field !== "expectd") wrong.push(`${name}: ${status} ${JSON.stringify(body)}`);
  }
  expect(wrong).toEqual([]);
});

test("a key that an operation's body does not have is refused by its name, at every depth", async () => {
  const taking = operations.filter(({ operation }) => jsonOf(operation) !== undefined);
  expect(taking.length).toBeGreaterThan(25);
  const wrong: string[] = [];
  for (const { name, method, path, operation } of taking) {
    const { schema = {}, example = exampleOf(schemas, schema) } = jsonOf(operation)!;
    wrong.push(...listOpen(schema).map((place) => `${name}: ${place} may have any key`));
    const send = (json: unknown) => askApi<Refused>(server, path, { method, json });
    const { status, body } = await send({ ...(example as object), expectd: 1 });
    if (status !== 422 || body.error.field !== "expectd") wrong.push(`${name}: ${status} ${JSON.stringify(body)}`);
  }
  expect(wrong).toEqual([]);
});

test("a body is refused where an operation takes none", async () => {
  const taking = operations.filter(({ operation, method }) => operation.requestBody === undefined && method !== "GET");
  expect(taking.length).toBeGreaterThan(10);
  const wrong: string[] = [];
  for (const { name, method, path } of taking) {
    const { status, body } = await askApi<Refused>(server, path, { method, json: { expected: "0".repeat(40) } });
    if (status !== 422 || body.error.field !== "expected") wrong.push(`${name}: ${status} ${JSON.stringify(body)}`);
  }
  expect(wrong).toEqual([]);
});

test("a key in an inner object, in an item, or of one of several shapes is refused by its place", async () => {
  const person = { name: "Ada", email: "ada@example.com" };
  const put = { op: "put", path: "a", content: "a\n", Mode: "100755" };
  const refusalOf = async (method: string, path: string, json: unknown) => {
    const { status, body } = await askApi<Refused>(server, `/repos/documented/repo${path}`, { method, json });
    return status === 422 ? body.error.field : status;
  };
  const commit = { branch: "main", message: "Change", author: person, operations: [put] };
  expect(await refusalOf("POST", "/commits", commit)).toBe("operations.0.Mode");
  const merge = { base: "main", head: "main", author: { ...person, Date: "2024-01-01T00:00:00Z" } };
  expect(await refusalOf("POST", "/merge", merge)).toBe("author.Date");
  expect(await refusalOf("PATCH", "/branches/main", { target: "main", expectd: null })).toBe("expectd");
  expect(await refusalOf("PATCH", "/branches/main", { newName: "next", expectd: null })).toBe("expectd");
  expect(await refusalOf("PUT", "/refs/heads/main", { target: "main", expectd: null })).toBe("expectd");
  expect(await refusalOf("DELETE", `/branches/main?expect=${"0".repeat(40)}`, undefined)).toBe("expect");
});

function jsonOf({ requestBody }: Operation) {
  return requestBody?.content?.["application/json"];
}

/** The places in a schema where an object may have keys that it does not name. */
function listOpen(schema: Schema, place = "body"): string[] {
  const whole = resolve(schemas, schema);
  const inner = Object.entries(whole.properties ?? {}).flatMap(([name, part]) => listOpen(part, `${place}.${name}`));
  const several = [...(whole.anyOf ?? []), ...(whole.oneOf ?? [])].flatMap((part) => listOpen(part, place));
  const items = whole.items === undefined ? [] : listOpen(whole.items, `${place}[]`);
  const isOpen = whole.properties !== undefined && whole.additionalProperties !== false;
  return [...(isOpen ? [place] : []), ...inner, ...several, ...items];
}
