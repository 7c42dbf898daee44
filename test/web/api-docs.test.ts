import { expect, test } from "vitest";
import { renderApiDocs } from "../../src/web/api-docs.ts";

test("the page shows every operation, its values escaped and no schema written out within itself", async () => {
  const response = await renderApiDocs({
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
            404: { description: "told for all routes together" },
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
  });
  const text = await response.text();
  expect(text).toContain("Needs: write.");
  expect(response.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  expect(text).toContain("A &lt;Title&gt;");
  expect(text).toContain("Read a &lt;thing&gt;");
  expect(text).toContain('<section id="get-things-name-">');
  expect(text).toContain("integer 1…9 = 2");
  expect(text).toContain("kind: &quot;a&quot; | &quot;b&quot;   // which");
  expect(text).toContain("parts?: [Thing, …]");
  expect(text).not.toContain("told for all");
  expect(text).not.toContain("<script");
});
