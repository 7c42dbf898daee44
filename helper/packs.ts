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

/** Options for the parts of a pack. */
interface PartOptions {
  /** The number of the first part; the others count up from it. */
  readonly first: number;
  /** Sizes of the parts, bytes. */
  readonly sizes: Iterator<number, never>;
  /** Path of a part's file. */
  pathOf(part: number): string;
  /** Called with each part whose file is complete. */
  ready(part: Part): void;
}

/** Size of a pack's header in bytes: its last four are the number of objects. */
const HEADER_BYTES = 12;

/** A pack that git is making. */
export class RunningPack {
  readonly #child: RunningGit;
  readonly #pieces: AsyncIterator<Buffer>;
  /** Bytes that were read, and not written yet. */
  #begun: Buffer = Buffer.alloc(0);

  private constructor(child: RunningGit) {
    this.#child = child;
    this.#pieces = (child.stdout as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Starts a pack of the objects that `tips` reach and `had` do not. */
  static start(tips: readonly string[], had: readonly string[]): RunningPack {
    const args = ["pack-objects", "-q", "--thin", "--revs", "--stdout", "--delta-base-offset"];
    const child = startGit(args);
    writeLines(child, [...tips, "--not", ...had]);
    return new RunningPack(child);
  }

  /** Reads the number of objects, which is known before they are packed.
   * @throws Error when git cannot pack them */
  async count(): Promise<number> {
    while (this.#begun.length < HEADER_BYTES) {
      const piece = await this.#next();
      if (piece === null) throw new Error("git pack-objects made no pack");
      this.#begun = Buffer.concat([this.#begun, piece]);
    }
    return this.#begun.readUInt32BE(HEADER_BYTES - 4);
  }

  /** Writes the pack in parts.
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

  /** Stops git. */
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

  /** Bytes left until the part is full. */
  get leftBytes(): number {
    return this.#mostBytes - this.#sizeBytes;
  }

  async add(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    this.#sizeBytes += bytes.length;
    // `once` fails when writing the file fails.
    if (!this.#file.write(bytes)) await once(this.#file, "drain");
  }

  async end(): Promise<Part> {
    this.#file.end();
    await once(this.#file, "close");
    return { number: this.#number, sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }
}
