/** The parts of an OpenAPI 3.1 document that the reference page shows.
 * @see https://spec.openapis.org/oas/v3.1.0 */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths?: Readonly<Record<string, object>> | undefined;
  readonly components?: { readonly schemas?: Readonly<Record<string, object>> } | undefined;
}

/** Schemas by name. */
export type Schemas = Readonly<Record<string, Schema | undefined>>;

/** One method of one path. */
export interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  /** The right that the operation needs: `Need`. */
  readonly "x-needs"?: string;
  readonly requestBody?: { readonly content?: Content };
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>;
}

/** An operation with its method and path. */
export interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** A path or query parameter. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

/** Bodies by media type. */
export type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;

/** The parts of a JSON schema that the page shows. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}
