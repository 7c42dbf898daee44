import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { OpenApiDocument, Operation } from "../../src/worker/web/api-docs/open-api.ts";
import type { Random } from "./random.ts";
import { SchemaValues } from "./schema-values.ts";

/** Maximum length of a parameter, in characters. */
const MAX_VALUE_LENGTH = 5_000;

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** A response that the document does not allow. */
export interface Violation {
  readonly request: string;
  readonly status: number;
  readonly reason: string;
}

/** The result of a run. */
export interface FuzzResult {
  readonly violations: readonly Violation[];
  /** Number of responses by route and status: a route without a successful one has not really been
   * tested. */
  readonly statuses: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Sends an API valid and invalid requests, generated from its own OpenAPI document, and checks
 * every response against it: no 5xx, no undocumented status, no body that violates its schema. */
export class ApiFuzzer {
  readonly #url: string;
  readonly #pack: Uint8Array<ArrayBuffer>;
  readonly #random: Random;
  readonly #values: SchemaValues;
  readonly #routes: Route[];
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });
  readonly #validators = new Map<string, ValidateFunction>();

  /** @param url of the API, without a trailing slash
   * @param known meaningful values, by the name of the parameter or property
   * @param pack a meaningful body that is not JSON and that no GET returns */
  constructor(
    url: string,
    document: OpenApiDocument,
    random: Random,
    known: Readonly<Record<string, readonly string[]>>,
    pack: Uint8Array,
  ) {
    this.#url = url;
    this.#pack = new Uint8Array(pack);
    this.#random = random;
    this.#values = new SchemaValues(document.components?.schemas ?? {}, random, known);
    this.#routes = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
      METHODS.filter((method) => method in methods).map((method) => ({
        method,
        path,
        operation: (methods as Record<string, Operation>)[method]!,
      })),
    );
    // Deletions come last, and of these those of inner resources first: else nothing would be left
    // to request.
    const rank = ({ method, path }: Route): number => (method === "delete" ? 1_000 - path.length : 0);
    this.#routes.sort((a, b) => rank(a) - rank(b));
    (addFormats as unknown as typeof addFormats.default)(this.#ajv);
    this.#ajv.addSchema({ $id: "api", ...document });
  }

  /** Requests each route this many times, in rounds. Routes without a success have up to thirty
   * times as many rounds, of ten requests each: what comes before a round takes longer than those.
   * @param between called before each round */
  async run(rounds: number, between: () => Promise<void>): Promise<FuzzResult> {
    const violations: Violation[] = [];
    const statuses = new Map<string, Map<number, number>>();
    const isTried = (name: string) => [...(statuses.get(name)?.keys() ?? [])].some((status) => status < 400);
    for (let round = 0; round < 30 * rounds; round++) {
      const isLate = round >= rounds;
      const routes = isLate ? this.#routes.filter((route) => !isTried(nameOf(route))) : this.#routes;
      if (routes.length === 0) break;
      await between();
      for (const route of routes) {
        const name = nameOf(route);
        const counts = statuses.get(name) ?? new Map<number, number>();
        statuses.set(name, counts);
        for (let asked = 0; asked < (isLate ? 10 : 1) && !(isLate && isTried(name)); asked++) {
          const { violation, status } = await this.#ask(route);
          if (violation !== null) violations.push(violation);
          counts.set(status, (counts.get(status) ?? 0) + 1);
        }
      }
    }
    return { violations, statuses };
  }

  async #ask(route: Route): Promise<{ violation: Violation | null; status: number }> {
    const { method } = route;
    const url = this.#url + this.#fill(route);
    const { type, body } = await this.#makeBody(route, url);
    const response = await fetch(url, {
      method: method.toUpperCase(),
      headers: type === null ? {} : { "Content-Type": type },
      ...(body === null ? {} : { body }),
      redirect: "manual",
    });
    const bytes = await response.arrayBuffer();
    const reason = this.#judge(route, response, bytes);
    const request = `${method.toUpperCase()} ${url}${typeof body === "string" ? ` ${body.slice(0, 2_000)}` : ""}`;
    return {
      violation: reason === null ? null : { request, status: response.status, reason },
      status: response.status,
    };
  }

  /** Makes a body: JSON by its schema; for another type, what GET returns there, a pack where it is
   * posted, or garbage. */
  async #makeBody(
    { method, operation }: Route,
    url: string,
  ): Promise<{ type: string | null; body: string | Uint8Array<ArrayBuffer> | null }> {
    const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [null, null];
    if (type === null || content === null) return { type: null, body: null };
    if (type === "application/json" && content.schema !== undefined) {
      return { type, body: JSON.stringify(this.#values.make(content.schema, "body")) };
    }
    if (method === "post" && this.#random.below(2) === 0) return { type, body: this.#pack };
    if (this.#random.below(4) === 0) return { type, body: new Uint8Array(this.#random.bytes(this.#random.below(200))) };
    const there = await fetch(url.replace(/\?.*/, ""));
    return { type, body: new Uint8Array(await there.arrayBuffer()) };
  }

  #fill({ path, operation }: Route): string {
    const query = new URLSearchParams();
    let filled = path;
    for (const { name, in: place, required, schema = {} } of operation.parameters ?? []) {
      const value = this.#values.make(schema, name);
      const whole = typeof value === "string" ? value.toWellFormed() : String(JSON.stringify(value));
      // A longer URL never reaches the server's code.
      const text = whole.slice(0, MAX_VALUE_LENGTH).toWellFormed();
      // An empty part or a dot would make it another path.
      if (place === "path") filled = filled.replace(`{${name}}`, encodePart(text));
      else if (place === "query" && (required === true || this.#random.below(3) === 0)) {
        for (const one of Array.isArray(value) ? value : [text]) query.append(name, String(one));
      }
    }
    return query.size === 0 ? filled : `${filled}?${query.toString()}`;
  }

  /** @returns what is wrong with a response; null: nothing */
  #judge({ method, path, operation }: Route, response: Response, bytes: ArrayBuffer): string | null {
    const { status } = response;
    const text = new TextDecoder().decode(bytes);
    if (status >= 500) return `the server failed: ${text.slice(0, 300)}`;
    // The HTTP server's own answer to a URL that never reaches the API.
    if (status === 414) return null;
    const described = operation.responses?.[status];
    if (described === undefined) return `status ${status} is not described: ${text.slice(0, 300)}`;
    const type = (response.headers.get("Content-Type") ?? "").split(";")[0]!.trim();
    const types = Object.keys(described.content ?? {});
    if (types.length === 0) return bytes.byteLength === 0 ? null : "a body is not described";
    if (!types.includes(type)) return types.includes("*/*") ? null : `the type ${type} is not described`;
    if (type !== "application/json") return null;
    const pointer = ["paths", path, method, "responses", String(status), "content", type, "schema"]
      .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
      .join("/");
    const validate = this.#validator(`api#/${pointer}`);
    if (validate(JSON.parse(text))) return null;
    return `${this.#ajv.errorsText(validate.errors)}: ${text.slice(0, 500)}`;
  }

  #validator(ref: string): ValidateFunction {
    const found = this.#validators.get(ref) ?? this.#ajv.compile({ $ref: ref });
    this.#validators.set(ref, found);
    return found;
  }
}

function nameOf({ method, path }: Route): string {
  return `${method.toUpperCase()} ${path}`;
}

function encodePart(text: string): string {
  const encoded = encodeURIComponent(text);
  return encoded === "" || /^\.\.?$/.test(encoded) ? "%20" : encoded;
}
