import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync, createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { git } from "./git.ts";
import { lock } from "./lock.ts";
import type { LfsServers } from "./lfs-servers.ts";
import { ApiError, type Body, type Sent } from "./transport.ts";

/** Parts that are sent in parallel: one connection rarely uses the whole bandwidth. */
const SIDE_BY_SIDE = 4;

/** Maximum number of times an upload is begun or continued: it may have ended meanwhile, or have
 * lost a part. */
const ROUNDS = 3;

/** Delay (ms) before the server is asked again whether it has read an object back. */
const LOOK_MS = 100;

/** A file to send. */
export interface LfsFile {
  readonly oid: string;
  readonly sizeBytes: number;
  readonly path: string;
  /** URL of the upload. If it ends in `/uploads`, uploads in parts begin there; otherwise the file
   * is sent there in one request. */
  readonly href: string;
  readonly header: Readonly<Record<string, string>>;
}

/** The server's view of an upload. */
interface Status {
  readonly id: string;
  readonly part_size: number;
  readonly parts: readonly number[];
}

/** Sends a file, unless the server has it by now. Continues an interrupted upload.
 * @param sent as in `Transport`, also called with bytes that the server already had
 * @throws ApiError, Error */
export async function uploadFile(servers: LfsServers, file: LfsFile, sent: Sent): Promise<void> {
  const { path, sizeBytes, href, header } = file;
  const actualBytes = (await stat(path)).size;
  if (actualBytes !== sizeBytes) throw new Error(`${path} has ${actualBytes} bytes, not ${sizeBytes}`);
  if (!new URL(href).pathname.endsWith("/uploads"))
    return servers.ask("PUT", href, header, { path, sizeBytes }, sent).then(() => undefined);
  const saved = await SavedLfsUpload.open(href);
  try {
    await new PartUpload(servers, file, saved, sent).run();
  } finally {
    saved.close();
  }
}

class PartUpload {
  readonly #servers: LfsServers;
  readonly #file: LfsFile;
  readonly #saved: SavedLfsUpload;
  readonly #sent: Sent;

  constructor(servers: LfsServers, file: LfsFile, saved: SavedLfsUpload, sent: Sent) {
    this.#servers = servers;
    this.#file = file;
    this.#saved = saved;
    this.#sent = sent;
  }

  async run(): Promise<void> {
    for (let round = 1; ; round++) {
      const status = await this.#open();
      if (status === null) break;
      try {
        await this.#sendMissing(status);
        await this.#complete(status.id);
        break;
      } catch (error) {
        if (round === ROUNDS || !(await this.#mayGoOn(error, status.id))) throw error;
      }
    }
    this.#saved.clear();
  }

  /** Continues an interrupted upload, or begins another.
   * @returns null: the server has the object */
  async #open(): Promise<Status | null> {
    const id = this.#saved.read();
    const status = id === null ? null : await this.#find(id);
    if (status !== null) return status;
    const begun = await this.#ask<Partial<Status>>("POST", "", { json: { size: this.#file.sizeBytes } });
    if (begun.id === undefined) return null;
    this.#saved.write(begun.id);
    return begun as Status;
  }

  /** Finds an upload. @returns null: it has ended */
  async #find(id: string): Promise<Status | null> {
    try {
      return await this.#ask<Status>("GET", `/${id}`);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }

  /** Whether a failed upload can be continued or begun again. */
  async #mayGoOn(error: unknown, id: string): Promise<boolean> {
    if (!(error instanceof ApiError)) return false;
    if (error.status === 404 || error.status === 409) {
      // The upload has ended, or cannot be used: the next one starts from nothing.
      this.#saved.clear();
      return true;
    }
    // Parts may be missing. If the bytes were wrong, the upload has ended.
    return error.status === 422 && (await this.#find(id)) !== null;
  }

  async #sendMissing({ id, part_size: partBytes, parts }: Status): Promise<void> {
    const { sizeBytes } = this.#file;
    const there = new Set(parts);
    const count = Math.ceil(sizeBytes / partBytes);
    const bytesOf = (part: number): number => Math.min(partBytes, sizeBytes - (part - 1) * partBytes);
    for (const part of there) this.#sent(bytesOf(part));
    const missing = Array.from({ length: count }, (_, i) => i + 1).filter((part) => !there.has(part));
    let isStopped = false;
    const sendSome = async (): Promise<void> => {
      for (let part = missing.shift(); part !== undefined && !isStopped; part = missing.shift())
        await this.#sendPart(id, part, (part - 1) * partBytes, bytesOf(part));
    };
    const lines = Array.from({ length: SIDE_BY_SIDE }, async () => {
      try {
        await sendSome();
      } catch (error) {
        isStopped = true;
        throw error;
      }
    });
    await Promise.allSettled(lines);
    await Promise.all(lines);
  }

  async #sendPart(id: string, part: number, from: number, sizeBytes: number): Promise<void> {
    const { path } = this.#file;
    const hash = createHash("sha256");
    for await (const piece of createReadStream(path, { start: from, end: from + sizeBytes - 1 }))
      hash.update(piece as Buffer);
    const { href, header } = this.#file;
    const address = `${href}/${id}/${part}?sha256=${hash.digest("hex")}`;
    await this.#servers.ask("PUT", address, header, { path, from, sizeBytes }, this.#sent, `${href}/${id}`);
  }

  /** Has the server join the parts and read the object back, which takes several requests for a
   * large object. */
  async #complete(id: string): Promise<void> {
    for (;;) {
      const { checked } = await this.#ask<{ checked?: number }>("POST", `/${id}`);
      if (checked === undefined) return;
      await sleep(LOOK_MS);
    }
  }

  #ask<T>(method: string, path: string, body?: Body): Promise<T> {
    return this.#servers.ask<T>(method, this.#file.href + path, this.#file.header, body);
  }
}

/** The upload of one file in progress: its id, in `$GIT_DIR/holdfast/lfs/<hash>`. */
class SavedLfsUpload {
  readonly #path: string;
  /** Whether another process sends the same file, so that this one has a separate upload, which is
   * not saved. */
  readonly #isSpare: boolean;

  private constructor(path: string, isSpare: boolean) {
    this.#path = path;
    this.#isSpare = isSpare;
  }

  /** @param href URL at which uploads of the file begin */
  static async open(href: string): Promise<SavedLfsUpload> {
    const gitDir = (await git(["rev-parse", "--git-common-dir"])).trimEnd();
    const dir = join(gitDir, "holdfast", "lfs");
    mkdirSync(dir, { recursive: true });
    const path = join(dir, createHash("sha256").update(href).digest("hex").slice(0, 16));
    return new SavedLfsUpload(path, !lock(`${path}.lock`));
  }

  /** Reads the id of an interrupted upload; null: none. */
  read(): string | null {
    if (this.#isSpare) return null;
    try {
      return readFileSync(this.#path, "utf8");
    } catch {
      return null;
    }
  }

  /** Saves the id of the upload in progress. */
  write(id: string): void {
    if (this.#isSpare) return;
    writeFileSync(`${this.#path}.new`, id);
    renameSync(`${this.#path}.new`, this.#path);
  }

  /** Forgets the saved upload. */
  clear(): void {
    if (!this.#isSpare) rmSync(this.#path, { force: true });
  }

  /** Lets other processes continue the upload. */
  close(): void {
    if (!this.#isSpare) rmSync(`${this.#path}.lock`, { force: true });
  }
}
