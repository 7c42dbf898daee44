import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { type RunningGit, startGit, writeLines } from "./git.ts";

/** A part of a pack, in a file. */
export interface Part {
  readonly number: number;
  readonly sizeBytes: number;
  /** SHA-256, hex. */
  readonly sha256: string;
}

/** Where the parts of a pack go. */
interface PartOptions {
  /** The number of the first part; the others follow. */
  readonly first: number;
  /** Of the parts, bytes. */
  readonly sizes: Iterator<number, never>;
  /** The file of a part. */
  pathOf(part: number): string;
  /** Called with each part whose file is complete. */
  ready(part: Part): void;
}

/** Bytes of a pack before its entries: the last four tell how many there are. */
const HEADER_BYTES = 12;

/** A pack that git makes. */
export class RunningPack {
  readonly #child: RunningGit;
  readonly #pieces: AsyncIterator<Buffer>;
  /** Read, and not written yet. */
  #begun: Buffer = Buffer.alloc(0);

  private constructor(child: RunningGit) {
    this.#child = child;
    this.#pieces = (child.stdout as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Begins to pack what some objects reach and others do not. */
  static start(tips: readonly string[], had: readonly string[]): RunningPack {
    const args = ["pack-objects", "-q", "--thin", "--revs", "--stdout", "--delta-base-offset"];
    const child = startGit(args);
    writeLines(child, [...tips, "--not", ...had]);
    return new RunningPack(child);
  }

  /** How many objects it has: known before they are packed.
   * @throws Error when git cannot pack them */
  async count(): Promise<number> {
    while (this.#begun.length < HEADER_BYTES) {
      const piece = await this.#next();
      if (piece === null) throw new Error("git pack-objects made no pack");
      this.#begun = Buffer.concat([this.#begun, piece]);
    }
    return this.#begun.readUInt32BE(HEADER_BYTES - 4);
  }

  /** Writes it, as parts.
   * @throws Error when git cannot pack it, or the disk is full */
  async write(options: PartOptions): Promise<void> {
    let number = options.first;
    let writer: PartWriter | null = null;
    for (let piece: Buffer | null = this.#begun; piece !== null; piece = await this.#next()) {
      for (let at = 0; at < piece.length;) {
        writer ??= new PartWriter(number, options.pathOf(number), options.sizes.next().value);
        const taken = piece.subarray(at, at + writer.leftBytes);
        await writer.add(taken);
        at += taken.length;
        if (writer.leftBytes > 0) continue;
        options.ready(await writer.end());
        writer = null;
        number += 1;
      }
    }
    if (writer !== null) options.ready(await writer.end());
  }

  /** Ends it. */
  stop(): void {
    this.#child.stop();
  }

  async #next(): Promise<Buffer | null> {
    const { value, done } = await this.#pieces.next();
    if (done !== true) return value;
    await this.#child.ended;
    return null;
  }
}

class PartWriter {
  readonly #number: number;
  readonly #file: WriteStream;
  readonly #hash = createHash("sha256");
  readonly #mostBytes: number;
  #sizeBytes = 0;

  constructor(number: number, path: string, mostBytes: number) {
    this.#number = number;
    this.#mostBytes = mostBytes;
    this.#file = createWriteStream(path);
  }

  /** Bytes that it may still get. */
  get leftBytes(): number {
    return this.#mostBytes - this.#sizeBytes;
  }

  async add(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    this.#sizeBytes += bytes.length;
    // `once` fails when the file does.
    if (!this.#file.write(bytes)) await once(this.#file, "drain");
  }

  async end(): Promise<Part> {
    this.#file.end();
    await once(this.#file, "close");
    return { number: this.#number, sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }
}
