import type { Schema, Schemas } from "../../src/worker/web/api-docs/open-api.ts";
import type { Random } from "./random.ts";

/** Strings that have broken servers before. */
const HOSTILE = [
  "",
  " ",
  "\u0000",
  "\r\nX: y",
  "..",
  "../../etc/passwd",
  "a/../.git/config",
  ".git",
  ".GIT",
  "%00",
  "%2e%2e",
  "__proto__",
  "constructor",
  "null",
  "-1",
  "1e99",
  "NaN",
  "'\"<script>",
  "(a+)+$",
  "[",
  "\\",
  "*".repeat(200),
  "é\u{1f600}\ud800",
  "a".repeat(5_000),
  "refs/heads/main",
  "HEAD~1^2",
  "main..main",
  "@{u}",
  "0".repeat(40),
  "f".repeat(39),
];

/** Generates values for JSON schemas, valid and invalid ones, from a seed. */
export class SchemaValues {
  readonly #schemas: Schemas;
  readonly #random: Random;
  readonly #known: Readonly<Record<string, readonly string[]>>;

  /** @param known meaningful values, by the name of the parameter or property */
  constructor(schemas: Schemas, random: Random, known: Readonly<Record<string, readonly string[]>>) {
    this.#schemas = schemas;
    this.#random = random;
    this.#known = known;
  }

  /** A value, valid more often than not. */
  make(schema: Schema, name: string, depth = 0): unknown {
    if (this.#random.below(12) === 0) return this.#wrong();
    if (schema.$ref !== undefined) {
      return this.make(this.#schemas[schema.$ref.split("/").at(-1)!] as Schema, name, depth + 1);
    }
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return this.#random.pick(schema.enum);
    const several = schema.anyOf ?? schema.oneOf;
    if (several !== undefined) return this.make(this.#random.pick(several), name, depth + 1);
    if (schema.allOf !== undefined) {
      // A part without a type only describes the others.
      const parts = schema.allOf.filter((part) => part.$ref !== undefined || part.type !== undefined);
      if (parts.length === 1) return this.make(parts[0]!, name, depth + 1);
      return Object.assign({}, ...parts.map((part) => this.make(part, name, depth + 1) as object));
    }
    const type = typeof schema.type === "object" ? this.#random.pick(schema.type) : schema.type;
    switch (type) {
      case "object":
        return this.#object(schema, depth);
      case "array":
        return Array.from({ length: this.#random.below(depth > 6 ? 1 : 4) }, () =>
          this.make(schema.items ?? {}, name, depth + 1),
        );
      case "integer":
      case "number":
        return this.#number(schema, name);
      case "boolean":
        return this.#random.below(2) === 0;
      case "null":
        return null;
      default:
        return this.#string(schema, name);
    }
  }

  #object(schema: Schema, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const isRequired = schema.required?.includes(name) === true;
      if (this.#random.below(isRequired ? 20 : 2) === 0) continue;
      made[name] = this.make(property, name, depth + 1);
    }
    if (this.#random.below(15) === 0) made[this.#random.pick(HOSTILE)] = this.#wrong();
    return made;
  }

  #number({ minimum = -10, maximum = 1_000 }: Schema, name: string): number {
    const known = this.#known[name];
    if (known !== undefined && this.#random.below(4) > 0) return Number(this.#random.pick(known));
    const least = Math.max(minimum, -1e9);
    const most = Math.min(maximum, 1e9);
    return this.#random.pick([least, most, least + this.#random.below(Math.max(1, Math.min(50, most - least)))]);
  }

  #string(schema: Schema, name: string): string {
    const known = this.#known[name];
    // A single known value is the container of everything else.
    if (known !== undefined && this.#random.below(known.length === 1 ? 20 : 4) > 0) return this.#random.pick(known);
    if (schema.format === "date-time") return "2024-02-29T12:00:00+01:00";
    return this.#random.pick([...HOSTILE, ...Object.values(this.#known).flat(), "a", "main", "dir/file.txt"]);
  }

  #wrong(): unknown {
    return this.#random.pick([null, true, -1, 1e99, 0.5, [], {}, [[[]]], { a: { b: [1] } }, ...HOSTILE] as unknown[]);
  }
}
