import { deflateSync } from "node:zlib";
import { expect } from "vitest";
import { makeRepository, tryGit } from "../../harness/git.ts";
import {
  assemblePack,
  copy,
  encodeDelta,
  insert,
  insertAll,
  makeCommit,
  type MadeObject,
  makeObject,
  makeTree,
  ofsDelta,
  refDelta,
} from "../../harness/pack-builder.ts";
import { encodeEntry } from "../../harness/raw.ts";
import { Random } from "../../harness/random.ts";
import type { PushedRepository } from "../pushing.ts";

/** What one push adds besides its commit. */
interface Version {
  readonly log: MadeObject;
  readonly twin: MadeObject;
  readonly tree: MadeObject;
  readonly commit: MadeObject;
}

/** Pushes of one commit each. Every one is a thin pack with deltas on the previous push: a file and
 * the root tree by id, a second file by distance, and a third, by id, on an entry that follows it
 * in the pack. */
export class TinyPushes {
  readonly #repository: PushedRepository;
  readonly #random = new Random(7);
  readonly #noise: Buffer;
  readonly #log: Buffer;
  #last: Version | null = null;
  #count = 0;

  /** @param options.noiseBytes a further file of so many incompressible bytes in each push
   * @param options.logBytes incompressible bytes with which the first file begins */
  constructor(repository: PushedRepository, { noiseBytes = 0, logBytes = 0 } = {}) {
    this.#repository = repository;
    this.#noise = Buffer.from(this.#random.bytes(noiseBytes));
    this.#log = Buffer.from(this.#random.bytes(logBytes));
  }

  /** The newest commit. */
  get tip(): string {
    return this.#last!.commit.oid;
  }

  async push(count: number, ref = "refs/heads/main"): Promise<void> {
    for (let i = 0; i < count; i++) {
      const before = this.#repository.refs().get(ref) ?? null;
      const pack = this.#next();
      const { refs } = await this.#repository.push([[ref, before, this.tip]], pack);
      expect(refs).toEqual([{ name: ref, error: null }]);
    }
  }

  #next(): Buffer {
    const last = this.#last;
    const line = `line ${this.#count++} ${Buffer.from(this.#random.bytes(12)).toString("hex")}\n`;
    const log = makeObject("blob", Buffer.concat([last?.log.content ?? this.#log, Buffer.from(line)]));
    const twin = makeObject("blob", Buffer.concat([log.content, Buffer.from("twin\n")]));
    const target = makeObject("blob", `a target of ${line}`);
    const early = makeObject("blob", `a target of ${line}and more\n`);
    if (this.#noise.length > 0) this.#noise.writeUInt32LE(this.#count);
    const noise = makeObject("blob", this.#noise);
    const tree = makeTree(
      ["100644", "early", early],
      ["100644", "log", log],
      ["100644", "noise", noise],
      ["100644", "target", target],
      ["100644", "twin", twin],
    );
    const commit = makeCommit(tree, last === null ? [] : [last.commit.oid], line);
    const logEntry = encodeEntry(
      last === null
        ? log
        : refDelta(
            last.log.oid,
            encodeDelta(
              last.log.content.length,
              log.content.length,
              copy(0, last.log.content.length),
              insert(log.content.subarray(last.log.content.length)),
            ),
          ),
    );
    const twinDelta = encodeDelta(
      log.content.length,
      twin.content.length,
      copy(0, log.content.length),
      insert("twin\n"),
    );
    const earlyDelta = encodeDelta(
      target.content.length,
      early.content.length,
      copy(0, target.content.length),
      insert("and more\n"),
    );
    const entries = [
      encodeEntry(commit),
      encodeEntry(last === null ? tree : refDelta(last.tree.oid, insertAll(last.tree.content.length, tree.content))),
      logEntry,
      encodeEntry(ofsDelta(logEntry.length, twinDelta)),
      encodeEntry(refDelta(target.oid, earlyDelta)),
      encodeEntry(target),
      encodeEntry({ ...noise, compressed: deflateSync(noise.content, { level: 0 }) }),
    ];
    this.#last = { log, twin, tree, commit };
    return assemblePack(this.#noise.length === 0 && last !== null ? entries.slice(0, -1) : entries);
  }
}

/** The length of the longest delta chain in a repository. */
export function longestChain({ tables }: PushedRepository): number {
  const links = new Map<number, number>([[0, -1]]);
  const rows = tables.objects.locate(tables.objects.present());
  const bases = new Map(Array.from(rows.number, (number, i) => [number, rows.base[i]!]));
  let longest = 0;
  for (const number of rows.number) {
    const pending = [];
    let at = number;
    for (; !links.has(at); at = bases.get(at)!) pending.push(at);
    for (let length = links.get(at)!; pending.length > 0;) links.set(pending.pop()!, ++length);
    longest = Math.max(longest, links.get(number)!);
  }
  return longest;
}

/** Has git index and check a pack that must hold everything `tip` reaches. */
export async function expectSound(pack: Buffer, tip: string): Promise<void> {
  const dir = await makeRepository("clone.git", "--bare");
  const indexed = await tryGit(dir, ["index-pack", "--strict", "--stdin"], { stdin: pack });
  expect(indexed.stderr).toBe("");
  expect((await tryGit(dir, ["update-ref", "refs/kept/tip", tip])).code).toBe(0);
  const checked = await tryGit(dir, ["fsck", "--strict", "--full"]);
  expect([checked.code, checked.stderr.replace(/^notice:.*\n/gm, "")]).toEqual([0, ""]);
}
