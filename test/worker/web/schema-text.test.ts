import { expect, test } from "vitest";
import type { Listed } from "../../../src/worker/web/api-docs/open-api.ts";
import { exampleOf, showRequest } from "../../../src/worker/web/api-docs/request-example.ts";
import { brief, describe, resolve } from "../../../src/worker/web/api-docs/schema-text.ts";

const schemas = {
  Oid: { type: "string", format: "oid", example: "e83c" },
  Commit: {
    type: "object",
    required: ["oid"],
    properties: { oid: { $ref: "#/components/schemas/Oid" }, parents: { type: "array", items: { type: "string" } } },
  },
  Shown: {
    allOf: [
      { $ref: "#/components/schemas/Commit" },
      { type: "object", required: ["files"], properties: { files: { type: "integer" } } },
    ],
  },
  Tree: {
    type: "object",
    properties: { entries: { type: "array", items: { $ref: "#/components/schemas/Tree" } } },
  },
};

test("what several schemas make together is shown as one", () => {
  const text = describe(schemas, { $ref: "#/components/schemas/Shown" });
  expect(text).toBe("{\n  oid: oid\n  parents?: [string, …]\n  files: integer\n}");
  expect(resolve(schemas, schemas.Shown).required).toEqual(["oid", "files"]);
});

test("a named schema that is described anew is what it is, with the description", () => {
  const tip = { allOf: [{ $ref: "#/components/schemas/Oid" }, { description: "its tip" }] };
  expect(describe(schemas, { type: "object", properties: { commit: tip } })).toBe("{\n  commit?: oid   // its tip\n}");
  expect(brief(tip)).toBe("Oid");
  expect(exampleOf(schemas, tip)).toBe("e83c");
});

test("what may be null besides says so", () => {
  const schema = {
    type: "object",
    properties: {
      at: { type: ["string", "null"], format: "date-time" },
      names: { type: ["array", "null"], items: { type: "string" } },
      within: { type: ["object", "null"], properties: { of: { type: "null" } } },
    },
  };
  const lines = [
    "  at?: date-time | null",
    "  names?: [string, …] | null",
    "  within?: {",
    "    of?: null",
    "  } | null",
  ];
  expect(describe(schemas, schema)).toBe(["{", ...lines, "}"].join("\n"));
});

test("a schema that holds itself is written out once", () => {
  expect(describe(schemas, { $ref: "#/components/schemas/Tree" })).toBe("{\n  entries?: [Tree, …]\n}");
});

test("an example is a command for a shell, of what the route needs", () => {
  const listed: Listed = {
    method: "post",
    path: "/repos/{owner}/{name}",
    operation: {
      parameters: [
        { name: "owner", in: "path", required: true, schema: { type: "string", example: "m e" } },
        { name: "name", in: "path", required: true, schema: { type: "string" } },
        { name: "q", in: "query", required: true, schema: { type: "string", example: "a&b" } },
        { name: "limit", in: "query", schema: { type: "integer" } },
      ],
      requestBody: {
        content: { "application/json": { schema: { type: "object", example: { message: "it's" } } } },
      },
    },
  };
  expect(showRequest(listed, schemas)).toBe(`curl "$api/repos/m%20e/name?q=a%26b" \\
  -H 'Content-Type: application/json' \\
  -d '{
  "message": "it'\\''s"
}'`);
  expect(showRequest({ ...listed, method: "delete", operation: {} }, schemas)).toBe(
    `curl -X DELETE "$api/repos/owner/name"`,
  );
});
