import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { startGit, writeLines } from "./git.ts";

/** A part of a pack, in a file. */
export interface Part {
  readonly number: number;
  readonly sizeBytes: number;
  /** SHA-256, hex. */
  readonly sha256: string;
}

/** Packs what some objects reach and others do not.
 * @param pathOf the file of a part
 * @param first the number of the first part; the others follow
 * @param ready called with each part whose file is complete
 * @throws Error when git cannot pack it, or the disk is full */
export async function writePack(
  tips: readonly string[],
  had: Iterable<string>,
  options: {
    readonly partBytes: number;
    readonly first: number;
    pathOf(part: number): string;
    ready(part: Part): void;
  },
): Promise<Part[]> {
  const args = ["pack-objects", "-q", "--thin", "--revs", "--stdout", "--delta-base-offset"];
  const child = startGit(args);
  writeLines(child, lines(tips, had));
  const parts: Part[] = [];
  let writer: PartWriter | null = null;
  const end = async (): Promise<void> => {
    if (writer === null) return;
    parts.push(await writer.end());
    options.ready(parts.at(-1)!);
    writer = null;
  };
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    for (let at = 0; at < piece.length;) {
      if (writer?.sizeBytes === options.partBytes) await end();
      const number = options.first + parts.length;
      writer ??= new PartWriter(number, options.pathOf(number));
      const taken = piece.subarray(at, at + options.partBytes - writer.sizeBytes);
      await writer.add(taken);
      at += taken.length;
    }
  }
  await end();
  await child.ended;
  return parts;
}

function* lines(tips: readonly string[], had: Iterable<string>): Generator<string> {
  yield* tips;
  yield "--not";
  yield* had;
}

class PartWriter {
  readonly #number: number;
  readonly #file: WriteStream;
  readonly #hash = createHash("sha256");
  sizeBytes = 0;

  constructor(number: number, path: string) {
    this.#number = number;
    this.#file = createWriteStream(path);
  }

  async add(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    this.sizeBytes += bytes.length;
    // `once` fails when the file does.
    if (!this.#file.write(bytes)) await once(this.#file, "drain");
  }

  async end(): Promise<Part> {
    this.#file.end();
    await once(this.#file, "close");
    return { number: this.#number, sizeBytes: this.sizeBytes, sha256: this.#hash.digest("hex") };
  }
}
