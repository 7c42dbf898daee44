import { type NamedObjects, subjectOf } from "../../base/codec/codec.ts";
import { listFindings } from "../../base/codec/fsck-messages.ts";
import { COMMIT, TREE, TAG, fromTypeNumber, type ObjectTypeNumber } from "../../base/format/object.ts";
import { concatOids, OID_BYTES, toHex } from "../../base/format/oid.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectRow } from "../store/index/object-columns.ts";
import { toEntryWord } from "../store/index/tree-table.ts";
import type { FoundObjects, FsckRun } from "./fsck-run.ts";

/** References that are looked up at a time. */
const BATCH_REFERENCES = 20_000;

/** A commit, tree or tag, and what it names. */
interface Content {
  readonly row: ObjectRow;
  readonly type: ObjectTypeNumber;
  readonly timeSeconds: number;
  readonly named: NamedObjects;
  /** The index in the batch of the first of `named`. */
  readonly at: number;
}

/** Compares objects with the stored rows: the objects that they name must exist, the graph must
 * agree with commits and tags, and cached tree entries with the trees. */
export class Contents {
  readonly #run: FsckRun;
  #batch: Content[] = [];
  #references = 0;
  /** Special files (`.gitmodules` ...) that were checked, by id and kind. */
  readonly #vetted = new Set<string>();

  constructor(run: FsckRun) {
    this.#run = run;
  }

  /** Adds a commit, tree or tag to the batch. */
  async add(row: ObjectRow, type: ObjectTypeNumber, bytes: Uint8Array): Promise<void> {
    const { codec } = this.#run.repository.state.platform;
    const { findings, timeSeconds, named, special } = codec.checkObject(fromTypeNumber(type), bytes);
    this.#refuse(row.oid, findings);
    const count = named.subjects.length;
    this.#batch.push({ row, type, timeSeconds, named, at: this.#references });
    this.#references += count;
    this.#run.checked.references += count;
    await this.#run.look(count);
    if (this.#run.refused !== 0n) await this.#checkSpecialFiles(special);
    if (this.#references >= BATCH_REFERENCES) await this.flush();
  }

  /** Checks the current batch. */
  async flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#references = 0;
    if (batch.length === 0) return;
    const run = this.#run;
    await run.step();
    const oids = concatOids(batch.map(({ named }) => named.oids));
    const found = await run.attempt("ids of objects", () => run.lookup(oids), null);
    if (found === null) return;
    for (const content of batch) this.#checkReferences(content, found);
    await run.attempt("nodes of the graph", () => this.#checkNodes(batch, found), undefined);
    await run.attempt("cached entries of trees", () => this.#checkTrees(batch, found), undefined);
  }

  #refuse(oid: Uint8Array, findings: bigint): void {
    for (const detail of listFindings(findings & this.#run.refused)) {
      this.#run.report({ kind: "object-refused", oid: toHex(oid), detail });
    }
  }

  /** Checks the content of `.gitmodules` and `.gitattributes`. */
  async #checkSpecialFiles({ subjects, oids }: NamedObjects): Promise<void> {
    for (const [i, number] of subjects.entries()) {
      await this.#run.look(1);
      const { tables, entries, repository } = this.#run;
      const oid = oids.subarray(i * OID_BYTES, (i + 1) * OID_BYTES);
      const subject = subjectOf(number);
      const name = `${subject} ${toHex(oid)}`;
      if (this.#vetted.has(name)) continue;
      this.#vetted.add(name);
      const row = tables.objects.find(oid);
      // Missing or unreadable files are reported elsewhere.
      if (row === null || entries.isStreamed(row)) continue;
      try {
        const { bytes } = await entries.readObject(row);
        this.#refuse(oid, repository.state.platform.codec.checkObject(subject, bytes).findings);
      } catch (error) {
        await this.#run.damageOf(error);
      }
    }
  }

  #checkReferences({ row, named: { subjects, oids }, at }: Content, found: FoundObjects): void {
    for (const [i, subject] of subjects.entries()) {
      const type = found.type[at + i]!;
      if (type === subject) continue;
      const name = `${subjectOf(subject)} ${toHex(oids, i * OID_BYTES)}`;
      const isMissing = type === 0;
      this.#run.report({
        kind: isMissing ? "reference-missing" : "reference-type",
        oid: toHex(row.oid),
        detail: `it names ${name}, which is ${isMissing ? "missing" : `a ${fromTypeNumber(type)}`}`,
      });
    }
  }

  /** Compares commits and tags with their rows in the graph. */
  #checkNodes(batch: readonly Content[], found: FoundObjects): void {
    const contents = batch.filter(({ type }) => type === COMMIT || type === TAG);
    const expected = contents.map(({ named: { subjects }, at }) => {
      const numbers = Array.from(subjects, (_, i) => found.number[at + i]!);
      // A commit names its tree first. A tag names its object, which is not a parent when it is a
      // tree or blob.
      const isParent = (i: number): boolean => subjects[i] === COMMIT || subjects[i] === TAG;
      return { parents: numbers.filter((_, i) => isParent(i)), tree: numbers.find((_, i) => !isParent(i)) ?? 0 };
    });
    const numbers = contents.map(({ row }) => row.number);
    const nodes = this.#run.audit.nodes([...numbers, ...expected.flatMap(({ parents }) => parents)]);
    contents.forEach(({ row, timeSeconds }, i) => {
      const say = (detail: string): void => this.#run.report({ kind: "node-row", oid: toHex(row.oid), detail });
      const { parents, tree } = expected[i]!;
      // Missing objects were already reported.
      if (parents.includes(0)) return;
      const node = nodes.get(row.number);
      if (node === undefined) return say("it is not in the graph");
      if (node.parents.join() !== parents.join())
        say(`its parents are ${parents.join()}, but ${node.parents.join()} in the graph`);
      if (node.tree !== tree) say(`its tree is ${tree}, but ${node.tree} in the graph`);
      if (node.time !== timeSeconds) say(`its time is ${timeSeconds}, but ${node.time} in the graph`);
      const generation =
        1 + parents.reduce((highest, parent) => Math.max(highest, nodes.get(parent)?.generation ?? 0), 0);
      if (node.generation !== generation) say(`its generation is ${generation}, but ${node.generation} in the graph`);
    });
  }

  /** Compares the cached entries of trees with the trees. */
  #checkTrees(batch: readonly Content[], found: FoundObjects): void {
    const trees = batch.filter(({ type }) => type === TREE);
    const numbers = NumberSet.fromUnsorted(trees.map(({ row }) => row.number));
    const remembered = this.#run.tables.trees.find(numbers);
    for (const { row, named, at } of trees) {
      const words = remembered.get(row.number);
      if (words === undefined) continue;
      const isRight =
        words.length === named.subjects.length &&
        named.subjects.every((subject, i) => words[i] === toEntryWord(found.number[at + i]!, subject === TREE));
      if (!isRight)
        this.#run.report({
          kind: "tree-row",
          oid: toHex(row.oid),
          detail: "its cached entries differ from its content",
        });
    }
  }
}
