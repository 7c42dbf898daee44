import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { renderApiDocs } from "../../../src/worker/web/api-docs/api-docs.ts";
import type { Operation, Schema } from "../../../src/worker/web/api-docs/open-api.ts";
import { askApi } from "../../harness/api.ts";
import { noteProblems, shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { testSome } from "../../harness/sweep.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

let browser: SharedBrowser;
let server: Pick<Server, "url">;
let document: Document;

beforeAll(async () => {
  [browser, server] = await Promise.all([shareBrowser(), shareServer("docs")]);
  document = (await askApi<Document>(server, "/openapi.json")).body;
});

afterAll(async () => {
  await browser.close();
});

/** A desktop screen and a phone. */
const SCREENS = [
  { width: 1_280, height: 800 },
  { width: 390, height: 844 },
] as const;

testSome(
  1,
  SCREENS,
  "on a screen of $width pixels all of the page is there, and no wider than it",
  async (viewport) => {
    const page = await browser.newPage({ viewport });
    const problems = noteProblems(page);
    await page.goto(`${server.url}/api/docs`);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(viewport.width);
    // Nor is a part of it cut off, or scrolled by itself in a narrow box.
    const scrolled = `[...document.querySelectorAll("pre")].filter((pre) => pre.scrollWidth > pre.clientWidth).length`;
    expect(await page.evaluate(scrolled)).toBe(0);
    if (viewport.width < 500) await page.getByText("Routes", { exact: true }).click();
    const link = page.getByRole("link", { name: "Merge a commit into a branch" });
    await link.click();
    const heading = page.locator("#post-repos-owner-repo-merge h3");
    await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(viewport.height / 2);
    const text = await page.locator("main").innerText();
    expect(text).not.toContain("`");
    expect(text).not.toMatch(/: any\b/);
    // What every route may fail with appears once, and the body of every failure.
    for (const once of ["The request is malformed.", "The service is temporarily unavailable", "conflictCount?"])
      expect(text.split(once).length - 1, once).toBe(1);
    expect(problems).toEqual([]);
    await page.close();
  },
);

test("each route has an example, and each JSON body that the document gives as one is valid", async () => {
  const text = await (await fetch(`${server.url}/api/docs`)).text();
  const routes = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(routes.length).toBeGreaterThan(50);
  expect(text.split("<h4>Example</h4>").length - 1).toBe(routes.length);
  expect(text).toContain(`api=${server.url}/api<`);

  const ajv = new Ajv2020({ strict: false });
  (addFormats as unknown as typeof addFormats.default)(ajv);
  ajv.addSchema({ $id: "api", ...document });
  for (const { summary, requestBody } of routes) {
    const schema = requestBody?.content?.["application/json"]?.schema;
    if (schema === undefined) continue;
    const named = schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split("/").at(-1)!]!;
    expect(named.example, summary).toBeDefined();
    const inDocument = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as Schema;
    expect([summary, ajv.validate(inDocument, named.example), ajv.errors]).toEqual([summary, true, null]);
  }
});

test("every time in an answer is told as ISO 8601 has it", () => {
  const odd: string[] = [];
  const look = (schema: Schema, path: string): void => {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const types = [property.type].flat();
      const isNumber = types.includes("integer") || types.includes("number");
      // A duration is a number of milliseconds, `ms`; a point in time is not a number.
      if (isNumber && /(?:Ms|Seconds|At|[tT]ime|[dD]ate)$/.test(name)) odd.push(`${path}.${name}`);
      const isTime = /At$|^(?:time|date|began|committed|since|until)$/.test(name);
      if (isTime && !/^date(?:-time)?$/.test(property.format ?? "")) odd.push(`${path}.${name}`);
    }
    for (const [name, part] of Object.entries(schema)) {
      if (typeof part === "object" && part !== null && name !== "example") look(part as Schema, `${path}.${name}`);
    }
  };
  look({ ...document.components.schemas } as Schema, "");
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { responses } of Object.values(methods)) look({ ...responses } as Schema, path);
  }
  expect(odd).toEqual([]);
});

const FAILURE = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };

test("the page shows every operation, its values escaped and no schema written out within itself", async () => {
  const response = await renderApiDocs(
    {
      info: { title: "A <Title>", version: "1" },
      paths: {
        "/things/{name}": {
          get: {
            tags: ["things"],
            summary: "Read a <thing>",
            "x-needs": "write",
            parameters: [
              { name: "name", in: "path", required: true, schema: { type: "string" } },
              { name: "depth", in: "query", schema: { type: "integer", minimum: 1, maximum: 9, default: 2 } },
            ],
            responses: {
              200: {
                description: "It.",
                content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
              },
              404: { description: "told for all routes together", content: FAILURE },
              409: { description: "told here", content: FAILURE },
            },
          },
          put: {
            tags: ["things"],
            summary: "Write it",
            responses: {
              204: { description: "It is written." },
              404: { description: "told for all routes together", content: FAILURE },
            },
          },
        },
      },
      components: {
        schemas: {
          Thing: {
            type: "object",
            required: ["kind"],
            properties: {
              kind: { enum: ["a", "b"], description: "which" },
              parts: { type: "array", items: { $ref: "#/components/schemas/Thing" } },
            },
          },
        },
      },
    },
    "https://git.example.com/api",
  );
  const text = await response.text();
  expect(text).toContain("Needs: write.");
  expect(response.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  expect(text).toContain("A &lt;Title&gt;");
  expect(text).toContain("Read a &lt;thing&gt;");
  expect(text).toContain('<section id="get-things-name-">');
  expect(text).toContain("integer 1…9 = 2");
  expect(text).toContain("kind: &quot;a&quot; | &quot;b&quot;   // which");
  expect(text).toContain("parts?: [Thing, …]");
  expect(text.match(/told for all/g)).toHaveLength(1);
  expect(text).toMatch(/<td>404<\/td>\s*<td>told for all routes together<\/td>/);
  expect(text).toContain("<h4>409: told here</h4>");
  expect(text).not.toContain("<script");
});
