/** An R2 bucket that keeps its objects in an S3 server: as much of one as the Worker uses. It runs
 * beside the tested code, so bytes are passed on as they are, and never hashed here. The S3 server
 * keeps objects as files: no key may be a folder of another one's. */
import { AwsClient } from "./aws4fetch.mjs";

/** What R2 calls the errors that the Worker knows.
 * @see https://developers.cloudflare.com/r2/api/error-codes/ */
const R2_CODES = { EntityTooSmall: 10_011, NoSuchUpload: 10_024, InvalidPart: 10_025 };

/** @see ../../src/base/chunks/bucket.ts */
export class RemoteBucket {
  #url;
  #client;

  constructor({ S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY }) {
    this.#url = `${S3_ENDPOINT}/${S3_BUCKET}`;
    this.#client = new AwsClient({
      accessKeyId: S3_ACCESS_KEY_ID,
      secretAccessKey: S3_SECRET_ACCESS_KEY,
      service: "s3",
      region: "auto",
      retries: 0,
    });
  }

  async put(key, bytes, options = {}) {
    const checksum = options.sha1 === undefined ? {} : { "x-amz-checksum-sha1": options.sha1.toBase64() };
    const { headers } = await this.#send("PUT", pathOf(key), { ...label(options), ...checksum }, bytes);
    return { etag: etagOf(headers), size: Number(headers.get("x-amz-object-size")) };
  }

  async get(key, { range: { offset, length }, onlyIf }) {
    const headers = { Range: `bytes=${offset}-${offset + length - 1}` };
    if (onlyIf !== undefined) headers["If-Match"] = `"${onlyIf.etagMatches}"`;
    const response = await this.#send("GET", pathOf(key), headers, undefined, [404, 412]);
    if (response.ok) return { ...describe(response), body: response.body, arrayBuffer: () => response.arrayBuffer() };
    await response.body.cancel();
    return response.status === 404 ? null : this.head(key);
  }

  async head(key) {
    const response = await this.#send("HEAD", pathOf(key), { "x-amz-checksum-mode": "ENABLED" }, undefined, [404]);
    return response.ok ? describe(response) : null;
  }

  async delete(keys) {
    if (keys.length === 0) return;
    const objects = keys.map((key) => `<Object><Key>${escape(key)}</Key></Object>`);
    const body = new TextEncoder().encode(`<Delete><Quiet>true</Quiet>${objects.join("")}</Delete>`);
    const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", body)).toBase64();
    const response = await this.#send("POST", "?delete", { "x-amz-checksum-sha256": sha256 }, body);
    const [message] = textsOf(await response.text(), "Message");
    if (message !== undefined) throw new Error(`delete: ${message}`);
  }

  async list({ prefix, cursor, startAfter }) {
    const query = { "list-type": 2, prefix, "continuation-token": cursor, "start-after": startAfter };
    const fields = Object.entries(query).filter(([, value]) => value !== undefined);
    const path = `?${fields.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
    const xml = await (await this.#send("GET", path)).text();
    const [next] = textsOf(xml, "NextContinuationToken");
    const page = next === undefined ? { truncated: false } : { truncated: true, cursor: next };
    return { ...page, objects: textsOf(xml, "Key").map((key) => ({ key })) };
  }

  async createMultipartUpload(key, options = {}) {
    const response = await this.#send("POST", `${pathOf(key)}?uploads`, label(options));
    return this.resumeMultipartUpload(key, textsOf(await response.text(), "UploadId")[0]);
  }

  resumeMultipartUpload(key, uploadId) {
    const path = `${pathOf(key)}?uploadId=${encodeURIComponent(uploadId)}`;
    return {
      uploadId,
      uploadPart: async (partNumber, bytes) => {
        const { headers } = await this.#send("PUT", `${path}&partNumber=${partNumber}`, {}, bytes);
        return { partNumber, etag: etagOf(headers) };
      },
      complete: async (parts) => {
        const list = parts.map(
          ({ partNumber, etag }) => `<Part><PartNumber>${partNumber}</PartNumber><ETag>"${etag}"</ETag></Part>`,
        );
        const body = `<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`;
        await (await this.#send("POST", path, {}, body)).text();
        return this.head(key);
      },
      abort: async () => void (await this.#send("DELETE", path)),
    };
  }

  /** @param passed statuses that are no error */
  async #send(method, path, headers, body, passed = []) {
    const response = await fetch(await this.#client.sign(this.#url + path, { method, headers, body }));
    if (response.ok || passed.includes(response.status)) return response;
    const text = await response.text();
    const code = R2_CODES[textsOf(text, "Code")[0]];
    throw new Error(`${method} ${path}: ${response.status} ${text}${code === undefined ? "" : ` (${code})`}`);
  }
}

function pathOf(key) {
  return `/${key.split("/").map(encodeURIComponent).join("/")}`;
}

function label({ httpMetadata, customMetadata = {} }) {
  const type = httpMetadata === undefined ? {} : { "Content-Type": httpMetadata.contentType };
  const metadata = Object.entries(customMetadata).map(([name, value]) => [`x-amz-meta-${name}`, value]);
  return { ...type, ...Object.fromEntries(metadata) };
}

function describe({ headers }) {
  const sha256 = headers.get("x-amz-checksum-sha256");
  // What a range is of, where there is one.
  const size = Number(headers.get("Content-Range")?.split("/")[1] ?? headers.get("Content-Length"));
  const checksums = sha256 === null ? {} : { sha256: Uint8Array.fromBase64(sha256).buffer };
  return { etag: etagOf(headers), size, checksums };
}

/** As R2 tells it: without quotes. A file that the S3 server did not write has none. */
function etagOf(headers) {
  return headers.get("ETag")?.replaceAll('"', "") ?? "";
}

/** The texts of all elements of a name. */
function textsOf(xml, name) {
  return Array.from(xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g")), ([, text]) => unescape(text));
}

function escape(text) {
  return text.replaceAll(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);
}

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescape(text) {
  return text.replaceAll(/&(?:#(x?)([\da-fA-F]+)|(\w+));/g, (_, hex, digits, name) =>
    name === undefined ? String.fromCodePoint(parseInt(digits, hex === "" ? 10 : 16)) : ENTITIES[name],
  );
}
