import { html, raw } from "hono/html";
import { API_DOCS_STYLE } from "./api-docs-style.ts";
import type { Content, OpenApiDocument, Operation, Parameter, Schema, Schemas } from "./open-api.ts";

type Html = ReturnType<typeof html>;

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** Failures that every route may answer with alike: told once, at the head of the page. */
const COMMON = new Set(["400", "401", "403", "404", "413", "415", "422", "429", "500", "503"]);

/** An operation with its place. */
interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Renders the reference page of the API from its own document: one page, no script, nothing from elsewhere. */
export async function renderApiDocs(document: OpenApiDocument): Promise<Response> {
  const { title, version, description } = document.info;
  const schemas = document.components?.schemas ?? {};
  const groups = Map.groupBy(listOperations(document), ({ operation }) => operation.tags?.[0] ?? "other");
  const tags = [...groups].toSorted(([a], [b]) => a.localeCompare(b));
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title} API</title>
        <style>
          ${raw(API_DOCS_STYLE)}
        </style>
      </head>
      <body>
        <nav>
          <a href="#top">${title} API ${version}</a>
          ${tags.map(
            ([tag, operations]) =>
              html`<h2>${tag}</h2>
                ${operations.map((listed) => html`<a href="#${idOf(listed)}">${listed.operation.summary ?? listed.path}</a>`)}`,
          )}
        </nav>
        <main id="top">
          <h1>${title} API</h1>
          <p>${description}</p>
          <p>
            All paths are below <code>/api</code>. The document that this page is made of is
            <a href="openapi.json">openapi.json</a>. Any route may fail with 400 (malformed), 401 (no valid token), 403
            (the token's right does not reach as far), 404 (not there, or not to be seen by this token), 413 (too
            large), 415 (no JSON), 422 (a value is not valid; <code>field</code> says which), 429 (too many wrong
            tokens), 500 or 503.
          </p>
          ${tags.map(
            ([tag, operations]) =>
              html`<h2>${tag}</h2>
                ${operations.map((listed) => renderOperation(listed, schemas))}`,
          )}
        </main>
      </body>
    </html>`;
  return new Response(String(await page), {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "no-cache",
    },
  });
}

function renderOperation(listed: Listed, schemas: Schemas): Html {
  const { method, path, operation } = listed;
  const own = Object.entries(operation.responses ?? {}).filter(([status]) => !COMMON.has(status));
  return html`<section id="${idOf(listed)}">
    <h3><b class="${method}">${method.toUpperCase()}</b> <code>${path}</code></h3>
    <p>${operation.summary}. <i>Needs: ${operation["x-needs"]}.</i></p>
    ${operation.description === undefined ? "" : html`<p>${operation.description}</p>`}
    ${renderParameters(operation.parameters ?? [])}
    ${
      operation.requestBody === undefined
        ? ""
        : html`<h4>Body</h4>
            ${renderContent(operation.requestBody.content, schemas)}`
    }
    ${own.map(
      ([status, { description, content }]) =>
        html`<h4>${status}: ${description}</h4>
          ${renderContent(content, schemas)}`,
    )}
  </section>`;
}

function renderContent(content: Content = {}, schemas: Schemas): Html[] {
  return Object.entries(content).map(([type, { schema }]) =>
    type === "application/json" && schema !== undefined
      ? html`<pre>${describe(schemas, schema, "", [])}</pre>`
      : html`<p><code>${type}</code></p>`,
  );
}

function renderParameters(parameters: readonly Parameter[]): Html | string {
  const shown = parameters.filter(
    ({ name, in: place }) => !(place === "path" && (name === "owner" || name === "repo")),
  );
  if (shown.length === 0) return "";
  return html`<table>
    ${shown.map(
      ({ name, in: place, required, description, schema }) =>
        html`<tr>
          <td><code>${name}</code>${required === true ? "" : html` <i>optional</i>`}</td>
          <td>${place}</td>
          <td><code>${schema === undefined ? "" : brief(schema)}</code></td>
          <td>${description ?? schema?.description}</td>
        </tr>`,
    )}
  </table>`;
}

function listOperations({ paths = {} }: OpenApiDocument): Listed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => ({
      method,
      path,
      operation: (methods as Record<string, Operation>)[method]!,
    })),
  );
}

function idOf({ method, path }: Listed): string {
  return `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, "-")}`;
}

/** A schema in a few words. */
function brief(schema: Schema): string {
  const { enum: choices, anyOf, oneOf, type, minimum, maximum, format } = schema;
  if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const several = anyOf ?? oneOf;
  if (several !== undefined) return several.map(brief).join(" | ");
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1)!;
  if (schema.items !== undefined) return `${brief(schema.items)}[]`;
  const bounds = minimum === undefined && maximum === undefined ? "" : ` ${minimum ?? ""}…${maximum ?? ""}`;
  const shown = format ?? (Array.isArray(type) ? type.join(" | ") : ((type as string | undefined) ?? "any"));
  const standard = schema.default === undefined ? "" : ` = ${JSON.stringify(schema.default)}`;
  return `${shown}${bounds}${standard}`;
}

/** A schema written out like a value, its parts explained at the end of their lines.
 * @param within names of the schemas that it is part of: one that holds itself is not written out again */
function describe(schemas: Schemas, schema: Schema, indent: string, within: readonly string[]): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1)!;
    const named = schemas[name] as Schema | undefined;
    return named === undefined || within.includes(name) ? name : describe(schemas, named, indent, [...within, name]);
  }
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return several.map((one) => describe(schemas, one, indent, within)).join(" | ");
  if (schema.items !== undefined) return `[${describe(schemas, schema.items, indent, within)}, …]`;
  const deeper = `${indent}  `;
  if (schema.properties !== undefined) {
    const lines = Object.entries(schema.properties).map(([name, property]) => {
      const optional = schema.required?.includes(name) === true ? "" : "?";
      const said = property.description === undefined ? "" : `   // ${property.description}`;
      return `${deeper}${name}${optional}: ${describe(schemas, property, deeper, within)}${said}\n`;
    });
    return `{\n${lines.join("")}${indent}}`;
  }
  const { additionalProperties: others } = schema;
  if (typeof others === "object") return `{ [name]: ${describe(schemas, others, indent, within)} }`;
  return brief(schema);
}
