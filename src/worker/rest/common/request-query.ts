import { z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { GitError } from "../../../base/format/errors.ts";
import { checkParameters, isWholeNumber } from "../../../base/format/known-parameters.ts";
import { isUtf8, percentDecode } from "../../../base/format/path-parts.ts";

/** Parameters with arbitrary bytes, such as names in trees, which `queryBytes` reads. */
const BYTES: ReadonlySet<string> = new Set(["path"]);

/** Reads the parameters of a query: a text, or several when a name is repeated. */
export function readQuery({ req }: Context): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  );
}

/** Reads the values of a parameter with arbitrary bytes.
 * @returns byte strings */
export function queryBytes({ req }: Context, name: string): string[] {
  return rawPairs(req.url)
    .filter(([key]) => key === name)
    .map(([, value]) => value);
}

/** Names and values of a query: byte strings. */
function rawPairs(url: string): [name: string, value: string][] {
  const pairs = new URL(url).search.slice(1).split("&");
  return pairs.map((pair) => {
    const [name, ...value] = pair.replaceAll("+", " ").split("=");
    return [percentDecode(name!), percentDecode(value.join("="))];
  });
}

/** Refuses parameters that a route does not declare, numbers that are not written as digits, and
 * texts that are not UTF-8, since they would decode to other texts.
 * @param schema of the route's query; undefined: it has none
 * @throws TypeError when the schema is not an object of parameters
 * @throws GitError "invalid" */
export function checkQuery(schema: z.ZodType | undefined): MiddlewareHandler {
  if (schema !== undefined && !(schema instanceof z.ZodObject))
    throw new TypeError("a query is declared as an object of parameters");
  const names = Object.keys(schema?.shape ?? {});
  const numbers = new Set(names.filter((name) => isNumber(schema!.shape[name] as z.ZodType)));
  return async (context, next) => {
    const queries = context.req.queries();
    checkParameters(Object.keys(queries), names);
    for (const [field, values] of Object.entries(queries)) {
      const wrong = numbers.has(field) ? values.find((value) => !isWholeNumber(value)) : undefined;
      if (wrong === undefined) continue;
      throw new GitError("invalid", { what: field, field, actual: wrong.slice(0, 100), reason: "it must be digits" });
    }
    const [odd] = rawPairs(context.req.url).find(([name, value]) => !BYTES.has(name) && !isUtf8(value)) ?? [];
    if (odd !== undefined) throw new GitError("invalid", { what: odd, field: odd, reason: "it must be UTF-8" });
    return next();
  };
}

/** Whether a parameter is a number, optional or not. */
function isNumber(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return isNumber(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodNumber;
}
