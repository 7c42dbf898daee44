import type { Listed, Operation, Schema, Schemas } from "./open-api.ts";
import { resolve } from "./schema-text.ts";

/** Writes a shell command that calls a route; `$api` is the API's URL.
 * @returns lines for a shell */
export function showRequest({ method, path, operation }: Listed, schemas: Schemas): string {
  const parameters = operation.parameters ?? [];
  const valueOf = (name: string): string => {
    const schema = parameters.find((one) => one.name === name)?.schema;
    const example = schema && resolve(schemas, schema).example;
    return encodeURIComponent(typeof example === "string" ? example : name).replaceAll("%2F", "/");
  };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name));
  const needed = parameters.filter(({ in: place, required }) => place === "query" && required === true);
  const query = needed.map(({ name }) => `${name}=${valueOf(name)}`).join("&");
  const [type, example] = bodyOf(operation, schemas);
  const verb = method === "get" || (method === "post" && type !== undefined) ? "" : ` -X ${method.toUpperCase()}`;
  const lines = [`curl${verb} "$api${filled}${query === "" ? "" : `?${query}`}"`];
  if (type !== undefined) lines.push(`-H 'Content-Type: ${type}'`);
  if (type === "application/json") lines.push(`-d '${quote(JSON.stringify(example, null, 2))}'`);
  else if (type !== undefined) lines.push("--data-binary @FILE");
  return lines.join(" \\\n  ");
}

/** Makes an example of a JSON body for a schema: the schema's own example, else one composed of its
 * parts' examples. */
export function exampleOf(schemas: Schemas, schema: Schema): unknown {
  const whole = resolve(schemas, schema);
  if (whole.example !== undefined) return whole.example;
  if (whole.const !== undefined) return whole.const;
  if (whole.enum !== undefined) return whole.enum[0];
  if (whole.default !== undefined) return whole.default;
  const several = whole.anyOf ?? whole.oneOf;
  if (several !== undefined) return exampleOf(schemas, several[0]!);
  if (whole.items !== undefined) return [exampleOf(schemas, whole.items)];
  if (whole.properties !== undefined) {
    const needed = Object.entries(whole.properties).filter(([name]) => whole.required?.includes(name) === true);
    return Object.fromEntries(needed.map(([name, part]) => [name, exampleOf(schemas, part)]));
  }
  return { integer: 1, number: 1, boolean: true, object: {} }[String([whole.type].flat()[0])] ?? "…";
}

function bodyOf({ requestBody }: Operation, schemas: Schemas): [type?: string, example?: unknown] {
  const [first] = Object.entries(requestBody?.content ?? {});
  if (first === undefined) return [];
  const [type, { schema, example }] = first;
  return [type, example ?? (schema && exampleOf(schemas, schema))];
}

/** Escapes text for single quotes in a shell. */
function quote(text: string): string {
  return text.replaceAll("'", `'\\''`);
}
