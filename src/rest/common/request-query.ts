import { z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { GitError } from "../../format/errors.ts";

/** The parameters of a query: a text, or several when a name is repeated. */
export function readQuery({ req }: Context): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  );
}

/** Refuses parameters that a route does not have: a misspelt condition must not count as none.
 * @param schema of the route's query; undefined: it has none
 * @throws TypeError when it is no object of parameters
 * @throws GitError "invalid" */
export function checkQuery(schema: z.ZodType | undefined): MiddlewareHandler {
  if (schema !== undefined && !(schema instanceof z.ZodObject))
    throw new TypeError("a query is declared as an object of parameters");
  const names = Object.keys(schema?.shape ?? {});
  const known = new Set(names);
  const reason = `there is no such parameter here${names.length === 0 ? "" : `: choose of ${names.join(", ")}`}`;
  return async (context, next) => {
    const field = Object.keys(context.req.queries()).find((name) => !known.has(name));
    if (field !== undefined) throw new GitError("invalid", { what: field.slice(0, 100) || "query", field, reason });
    return next();
  };
}
