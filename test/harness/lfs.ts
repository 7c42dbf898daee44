// Requests as the LFS client sends them, and answers held against the JSON schemas of its API.
import { createHash } from "node:crypto";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect } from "vitest";

export const LFS_TYPE = "application/vnd.git-lfs+json";

/** An object as a client has it. */
export interface ClientObject {
  readonly oid: string;
  readonly size: number;
  readonly bytes: Buffer;
}

export function objectOf(bytes: Buffer | string): ClientObject {
  const content = Buffer.from(bytes);
  return { oid: createHash("sha256").update(content).digest("hex"), size: content.length, bytes: content };
}

/** The pointer file of an object. */
export function pointerOf({ oid, size }: Pick<ClientObject, "oid" | "size">): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
}

const ajv = new Ajv({ allErrors: true });
// oxlint-disable-next-line typescript/no-explicit-any -- the package's types name its CommonJS form.
(formats as any).default(ajv);

const ACTION = {
  type: "object",
  properties: {
    href: { type: "string", format: "uri" },
    header: { type: "object", additionalProperties: { type: "string" } },
    expires_in: { type: "number" },
    expires_at: { type: "string", format: "date-time" },
  },
  required: ["href"],
  additionalProperties: false,
};

const LOCK = {
  type: "object",
  properties: {
    id: { type: "string" },
    path: { type: "string" },
    locked_at: { type: "string", format: "date-time" },
    owner: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  },
  required: ["id", "path", "locked_at"],
  additionalProperties: false,
};

/** The schemas that git-lfs has beside its code, `tq/schemas` and `locking/schemas`. */
const SCHEMAS = {
  batch: {
    type: "object",
    properties: {
      transfer: { type: "string" },
      hash_algo: { type: "string" },
      objects: {
        type: "array",
        items: {
          type: "object",
          properties: {
            oid: { type: "string" },
            size: { type: "number", minimum: 0 },
            authenticated: { type: "boolean" },
            actions: {
              type: "object",
              properties: { download: ACTION, upload: ACTION, verify: ACTION },
              additionalProperties: false,
            },
            error: {
              type: "object",
              properties: { code: { type: "number" }, message: { type: "string" } },
              required: ["code", "message"],
              additionalProperties: false,
            },
          },
          required: ["oid", "size"],
          additionalProperties: false,
        },
      },
    },
    required: ["objects"],
    additionalProperties: false,
  },
  lock: {
    type: "object",
    properties: { lock: LOCK, message: { type: "string" } },
    required: ["lock"],
    additionalProperties: false,
  },
  list: {
    type: "object",
    properties: { locks: { type: "array", items: LOCK }, next_cursor: { type: "string" } },
    required: ["locks"],
    additionalProperties: false,
  },
  verify: {
    type: "object",
    properties: {
      ours: { type: "array", items: LOCK },
      theirs: { type: "array", items: LOCK },
      next_cursor: { type: "string" },
    },
    required: ["ours", "theirs"],
    additionalProperties: false,
  },
  error: {
    type: "object",
    properties: { message: { type: "string" }, documentation_url: { type: "string" }, request_id: { type: "string" } },
    required: ["message"],
    additionalProperties: false,
  },
} as const;

/** An answer whose JSON has the schema's form. */
export interface LfsAnswer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** The body of any answer, as far as tests look at it. */
export interface LfsBody {
  readonly message: string;
  readonly objects: readonly {
    readonly oid: string;
    readonly size: number;
    readonly actions?: Record<string, ActionBody>;
    readonly error?: { readonly code: number; readonly message: string };
  }[];
  readonly lock: LockBody;
  readonly locks: readonly LockBody[];
  readonly ours: readonly LockBody[];
  readonly theirs: readonly LockBody[];
  readonly next_cursor?: string;
}

export interface ActionBody {
  readonly href: string;
  readonly header: Record<string, string>;
  readonly expires_in?: number;
}

export interface LockBody {
  readonly id: string;
  readonly path: string;
  readonly owner: { readonly name: string };
}

/** The LFS routes of one repository, for one caller. */
export class LfsClient {
  readonly url: string;
  readonly #token: string | null;

  /** @param repository its URL */
  constructor(repository: string, token: string | null = null) {
    this.url = `${repository}/info/lfs`;
    this.#token = token;
  }

  /** Sends JSON as the client does, and checks the answer's form.
   * @param schema of an answer below 300, and of a conflict of locks; others are error documents */
  async ask(
    method: string,
    path: string,
    schema: keyof typeof SCHEMAS,
    json?: unknown,
    headers: Record<string, string> = {},
  ): Promise<LfsAnswer<LfsBody>> {
    const sent = json === undefined ? {} : { body: typeof json === "string" ? json : JSON.stringify(json) };
    const response = await fetch(`${this.url}/${path}`, {
      method,
      headers: { Accept: LFS_TYPE, "Content-Type": `${LFS_TYPE}; charset=utf-8`, ...this.authorization(), ...headers },
      ...sent,
    });
    expect(response.headers.get("Content-Type")).toBe(LFS_TYPE);
    const body = (await response.json()) as LfsBody;
    const form = response.ok || (response.status === 409 && schema === "lock") ? schema : "error";
    expect(ajv.validate(SCHEMAS[form], body), `${response.status} ${JSON.stringify(body)} ${ajv.errorsText()}`).toBe(
      true,
    );
    return { status: response.status, headers: response.headers, body };
  }

  batch(operation: string, objects: readonly Pick<ClientObject, "oid" | "size">[], more: Record<string, unknown> = {}) {
    const wanted = objects.map(({ oid, size }) => ({ oid, size }));
    return this.ask("POST", "objects/batch", "batch", { operation, transfers: ["basic"], objects: wanted, ...more });
  }

  /** Sends an object's bytes.
   * @param bytes others than its own */
  put({ oid, bytes: own }: Pick<ClientObject, "oid" | "bytes">, bytes: Buffer = own): Promise<Response> {
    const headers = { "Content-Type": "application/octet-stream", ...this.authorization() };
    return fetch(`${this.url}/objects/${oid}`, { method: "PUT", headers, body: new Uint8Array(bytes) });
  }

  get(oid: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
    return fetch(`${this.url}/objects/${oid}`, { method, headers: { ...this.authorization(), ...headers } });
  }

  /** Stores objects as a push does.
   * @throws when one of them is refused */
  async upload(objects: readonly ClientObject[]): Promise<void> {
    const { body } = await this.batch("upload", objects);
    for (const { oid, actions } of body.objects) {
      if (actions === undefined) continue;
      const { href, header } = actions["upload"]!;
      const { bytes } = objects.find((object) => object.oid === oid)!;
      const response = await fetch(href, { method: "PUT", headers: header, body: new Uint8Array(bytes) });
      expect(response.status, await response.text()).toBe(200);
    }
  }

  authorization(): Record<string, string> {
    return this.#token === null ? {} : { Authorization: `Basic ${btoa(`x:${this.#token}`)}` };
  }
}
