import type { Schema, Schemas } from "./open-api.ts";

/** Resolves a schema: follows its reference and merges its parts (`allOf`) into one. */
export function resolve(schemas: Schemas, schema: Schema): Schema {
  if (schema.$ref !== undefined) return resolve(schemas, schemas[nameOf(schema.$ref)] ?? {});
  if (schema.allOf === undefined) return schema;
  const { allOf, ...own } = schema;
  const parts = [...allOf, own].map((part) => resolve(schemas, part));
  const required = parts.flatMap((part) => part.required ?? []);
  const properties: Record<string, Schema> = {};
  const all: Schema = {};
  for (const part of parts) {
    Object.assign(properties, part.properties);
    Object.assign(all, part);
  }
  return Object.keys(properties).length === 0 ? all : { ...all, properties, required };
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** Describes a schema in a few words. */
export function brief(schema: Schema): string {
  const { enum: choices, anyOf, oneOf, type, minimum, maximum, format } = schema;
  if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const several = anyOf ?? oneOf;
  if (several !== undefined) return several.map(brief).join(" | ");
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  // A named schema with only a new description keeps its name.
  const named = schema.allOf?.filter((part) => part.$ref !== undefined || part.properties !== undefined) ?? [];
  if (named.length === 1) return brief(named[0]!);
  if (schema.items !== undefined) return `${brief(schema.items)}[]`;
  const bounds = minimum === undefined && maximum === undefined ? "" : ` ${minimum ?? ""}…${maximum ?? ""}`;
  const shown = (format === undefined ? [type ?? "any"].flat() : [format, ...nullOf(schema)]).join(" | ");
  const standard = schema.default === undefined ? "" : ` = ${JSON.stringify(schema.default)}`;
  return `${shown}${bounds}${standard}`;
}

/** Writes a schema like a value, with comments at the ends of lines.
 * @param within names of the enclosing schemas: a recursive one is not expanded again */
export function describe(schemas: Schemas, schema: Schema, indent = "", within: readonly string[] = []): string {
  const references = [schema, ...(schema.allOf ?? [])].flatMap(({ $ref }) =>
    $ref === undefined ? [] : [nameOf($ref)],
  );
  const again = references.find((name) => within.includes(name));
  if (again !== undefined) return again;
  const inside = [...within, ...references];
  const whole = resolve(schemas, schema);
  const several = whole.anyOf ?? whole.oneOf;
  if (several !== undefined) return several.map((one) => describe(schemas, one, indent, inside)).join(" | ");
  if (whole.items !== undefined)
    return [`[${describe(schemas, whole.items, indent, inside)}, …]`, ...nullOf(whole)].join(" | ");
  const deeper = `${indent}  `;
  if (whole.properties !== undefined) {
    const lines = Object.entries(whole.properties).map(([name, property]) => {
      const optional = whole.required?.includes(name) === true ? "" : "?";
      const said = resolve(schemas, property).description;
      const explained = said === undefined ? "" : `   // ${said}`;
      return `${deeper}${name}${optional}: ${describe(schemas, property, deeper, inside)}${explained}\n`;
    });
    return [`{\n${lines.join("")}${indent}}`, ...nullOf(whole)].join(" | ");
  }
  const { additionalProperties: others } = whole;
  if (typeof others === "object") return `{ [name]: ${describe(schemas, others, indent, inside)} }`;
  return brief(whole);
}

/** Whether a value may also be null. */
function nullOf({ type }: Schema): ["null"] | [] {
  return Array.isArray(type) && type.includes("null") ? ["null"] : [];
}
