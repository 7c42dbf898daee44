// Uploads of LFS objects in parts, as the agent makes them.
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { type ClientObject, LFS_TYPE, type LfsClient } from "./lfs.ts";

/** What the server says of an upload. */
export interface PartsBody {
  readonly id: string;
  readonly part_size: number;
  readonly parts: readonly number[];
  readonly expires_at: string;
  readonly checked?: number;
  readonly message?: string;
}

/** A status, and a body. */
export interface PartsAnswer {
  readonly status: number;
  readonly body: PartsBody;
}

/** An upload of one object. */
export class PartsUpload {
  readonly object: ClientObject;
  /** Of its routes. */
  readonly url: string;
  readonly partBytes: number;
  readonly count: number;
  readonly #headers: Record<string, string>;

  private constructor(object: ClientObject, url: string, partBytes: number, headers: Record<string, string>) {
    this.object = object;
    this.url = url;
    this.partBytes = partBytes;
    this.count = Math.ceil(object.size / partBytes);
    this.#headers = headers;
  }

  /** Begins an upload where a batch says so. */
  static async begin(lfs: LfsClient, object: ClientObject): Promise<PartsUpload> {
    const { status, body } = await tryBegin(lfs, object);
    expect([status, body.parts], body.message).toEqual([201, []]);
    const url = `${lfs.url}/objects/${object.oid}/uploads/${body.id}`;
    return new PartsUpload(object, url, body.part_size, lfs.authorization());
  }

  bytesOf(part: number): Buffer {
    return this.object.bytes.subarray((part - 1) * this.partBytes, part * this.partBytes);
  }

  /** Sends a part.
   * @param bytes others than its own
   * @param sha256 another than theirs */
  async put(part: number | string, bytes = this.bytesOf(Number(part)), sha256 = hashOf(bytes)): Promise<PartsAnswer> {
    const init = { method: "PUT", headers: this.#headers, body: new Uint8Array(bytes) };
    return read(await fetch(`${this.url}/${part}?sha256=${sha256}`, init));
  }

  /** Sends all parts. */
  async putAll(): Promise<void> {
    for (let part = 1; part <= this.count; part++) expect((await this.put(part)).status).toBe(200);
  }

  /** Asks until the object is read. */
  async complete(): Promise<PartsAnswer> {
    for (;;) {
      const answer = await this.ask("POST");
      if (answer.status !== 202) return answer;
    }
  }

  async ask(method: "GET" | "POST" | "DELETE", headers = this.#headers, url = this.url): Promise<PartsAnswer> {
    return read(await fetch(url, { method, headers }));
  }
}

/** Asks for an upload. */
export async function tryBegin(
  lfs: LfsClient,
  { oid, size }: Pick<ClientObject, "oid" | "size">,
): Promise<PartsAnswer> {
  const init = { method: "POST", headers: lfs.authorization(), body: JSON.stringify({ size }) };
  return read(await fetch(`${lfs.url}/objects/${oid}/uploads`, init));
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function read(response: Response): Promise<PartsAnswer> {
  expect(response.headers.get("Content-Type")).toBe(LFS_TYPE);
  return { status: response.status, body: (await response.json()) as PartsBody };
}
