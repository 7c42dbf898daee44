import { spawn } from "node:child_process";
import { fromByteString } from "../../../src/base/format/byte-string.ts";
import { fromHex, NULL_OID_HEX, toHex } from "../../../src/base/format/oid.ts";
import type { FileChange, FileVersion } from "../../../src/object/diff/file-change.ts";
import { findRenames } from "../../../src/object/diff/renames.ts";
import { formatPatch, type PatchOptions } from "../../../src/object/diff/unified-patch.ts";
import { tryGit } from "../../harness/git.ts";

/** How many of a repository's blobs are cached. */
const MAX_KEPT_BLOBS = 3_000;

/** A patch, and what `git diff --numstat -z` prints. */
export interface OwnPatch {
  readonly patch: Buffer;
  readonly stats: string;
  readonly files: number;
  /** Time it took with the contents in memory. */
  readonly ms: number;
}

/** Diffs the commits of a repository on disk. Git lists what changed and reads blobs; the rest is
 * the code under test. */
export class DiskDiff {
  readonly #dir: string;
  readonly #reader: ReturnType<typeof spawn>;
  readonly #output: AsyncIterator<Buffer>;
  #unread = Buffer.alloc(0);
  readonly #contents = new Map<string, Buffer>();
  /** Ids by object number, in the order of first use. */
  readonly #oids = [""];
  readonly #numbers = new Map<string, number>();

  constructor(dir: string) {
    this.#dir = dir;
    this.#reader = spawn("git", ["cat-file", "--batch"], { cwd: dir });
    this.#output = this.#reader.stdout![Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  close(): void {
    this.#reader.stdin!.end();
  }

  async compare(base: string, head: string, options: PatchOptions = {}): Promise<OwnPatch> {
    if (this.#contents.size > MAX_KEPT_BLOBS) this.#contents.clear();
    const unpaired = await this.#listChanges(base, head);
    for (const { old, next } of unpaired) for (const version of [old, next]) await this.#content(version);
    const start = performance.now();
    const { changes } = await findRenames(
      unpaired,
      {
        sizes: (wanted) => new Map(wanted.map((number) => [number, this.#contents.get(this.#oids[number]!)!.length])),
        read: (wanted) => this.#readEach(wanted),
        pause: () => Promise.resolve(),
      },
      { maxFiles: 1_000, maxBlobBytes: Infinity, maxReadBytes: Infinity, matchesEmpty: true },
    );
    const patches: Uint8Array[] = [];
    const stats: string[] = [];
    for (const change of changes) {
      const changed = { change, old: await this.#content(change.old), next: await this.#content(change.next) };
      const patch = formatPatch(changed, options);
      patches.push(patch.bytes);
      const counts = patch.isBinary ? "-\t-" : `${patch.additions}\t${patch.deletions}`;
      const { oldPath, path, similarity } = change;
      stats.push(similarity === null ? `${counts}\t${path}\0` : `${counts}\t\0${oldPath}\0${path}\0`);
    }
    return {
      patch: Buffer.concat(patches),
      stats: stats.join(""),
      files: changes.length,
      ms: performance.now() - start,
    };
  }

  /** The changes between two trees, without rename detection. */
  async #listChanges(base: string, head: string): Promise<FileChange[]> {
    const { stdoutBytes } = await tryGit(this.#dir, ["diff-tree", "-r", "-z", "--raw", "--no-renames", base, head]);
    const fields = stdoutBytes.toString("latin1").split("\0");
    const changes: FileChange[] = [];
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const [oldMode, mode, oldId, id] = fields[i]!.slice(1).split(" ");
      const path = fields[i + 1]!;
      const old = this.#version(oldMode!, oldId!);
      changes.push({ oldPath: path, path, old, next: this.#version(mode!, id!), similarity: null });
    }
    return changes;
  }

  #version(mode: string, oid: string): FileVersion | null {
    if (oid === NULL_OID_HEX) return null;
    if (!this.#numbers.has(oid)) this.#numbers.set(oid, this.#oids.push(oid) - 1);
    return { mode: parseInt(mode, 8), oid: fromHex(oid), number: mode === "160000" ? 0 : this.#numbers.get(oid)! };
  }

  async #content(version: FileVersion | null): Promise<Uint8Array> {
    if (version === null) return new Uint8Array(0);
    const oid = toHex(version.oid);
    return version.number === 0 ? fromByteString(`Subproject commit ${oid}\n`) : this.#read(oid);
  }

  async *#readEach(numbers: readonly number[]): AsyncGenerator<readonly [number, Uint8Array]> {
    for (const number of numbers) yield [number, await this.#read(this.#oids[number]!)];
  }

  async #read(oid: string): Promise<Buffer> {
    const known = this.#contents.get(oid);
    if (known !== undefined) return known;
    this.#reader.stdin!.write(`${oid}\n`);
    let newline: number;
    while ((newline = this.#unread.indexOf("\n")) === -1) await this.#readMore();
    const end = newline + 1 + Number(this.#unread.toString("latin1", 0, newline).split(" ")[2]);
    while (this.#unread.length <= end) await this.#readMore();
    const content = Buffer.from(this.#unread.subarray(newline + 1, end));
    this.#unread = this.#unread.subarray(end + 1);
    this.#contents.set(oid, content);
    return content;
  }

  async #readMore(): Promise<void> {
    const { value, done } = await this.#output.next();
    if (done === true) throw new Error("git cat-file ended");
    this.#unread = Buffer.concat([this.#unread, value]);
  }
}
