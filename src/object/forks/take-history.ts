import { GitError } from "../../base/format/errors.ts";
import { MAX_REINTRODUCTIONS } from "../../base/format/limits.ts";
import { concatOids, OID_BYTES } from "../../base/format/oid.ts";
import type { NewChunk } from "../store/index/chunk-row.ts";
import { lowest, newObjectColumns, type ObjectColumns, PLACE } from "../store/index/object-columns.ts";
import type { Reintroduction } from "../store/graph/reachability.ts";
import type { StoredLfsObject } from "../../contract/lfs.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import type { SharedHistory } from "../state/family.ts";

/** What came in of another repository's history. */
export interface EnteredHistory {
  /** The new objects' numbers. */
  readonly added: NumberSet;
  /** The LFS objects that its pointer files name, by the numbers that these have here. */
  readonly lfs: readonly NamedByPointer[];
}

/** An LFS object of the other repository, and a pointer file that names it. */
interface NamedByPointer {
  readonly pointer: ObjectNumber;
  readonly stored: StoredLfsObject;
}

/** Enters commits of another repository and the places of their objects; must run in a
 * transaction. No ref leads to them yet. What is there already stays as it is. The LFS objects are
 * not entered. @see enterReachedLfs
 * @throws GitError "too-large" */
export function enterHistory(
  tables: Tables,
  history: SharedHistory,
  who: string | null,
  nowMs: number,
): EnteredHistory {
  const entering = new Entering(tables, history);
  const before = tables.graph.length;
  let isDone = false;
  try {
    const added = entering.run(nowMs, who);
    isDone = true;
    return { added, lfs: entering.namedLfs() };
  } finally {
    if (!isDone) tables.graph.truncate(before);
  }
}

/** Enters those LFS objects that the refs reach by their pointer files, once a ref may have moved;
 * must run in a transaction. Until then nobody who reads the repository has them. */
export function enterReachedLfs(tables: Tables, named: EnteredHistory["lfs"], nowMs: number): void {
  const { refs, objects, graph, reachability, lfs } = tables;
  const tips = objects.lookupMany(refs.all().oids).number;
  const reached = graph.ancestors(Array.from(tips, (number) => graph.position(number)));
  const pointers = NumberSet.fromUnsorted(named.map(({ pointer }) => pointer)).intersection(objects.present());
  const kept = reachability.within(pointers, reached);
  const wanted = new Map(named.filter(({ pointer }) => kept.has(pointer)).map(({ stored }) => [stored.oid, stored]));
  const there = lfs.findMany([...wanted.keys()]);
  for (const [oid, stored] of wanted) if (!there.has(oid)) lfs.add(stored, nowMs);
}

class Entering {
  readonly #tables: Tables;
  readonly #history: SharedHistory;
  readonly #first: ObjectNumber;
  /** By row: this repository's number of the object. */
  readonly #numbers: Uint32Array;
  /** By row: its first introducer here; 0: none so far. */
  readonly #introducers: Uint32Array;
  /** By the other repository's number. */
  readonly #rowOf: ReadonlyMap<ObjectNumber, number>;
  /** Rows of objects that are not there yet, ascending. */
  readonly #fresh: number[] = [];
  readonly #adopted = new Map<ObjectNumber, ObjectNumber>();
  readonly #reintroduced: Reintroduction[] = [];

  constructor(tables: Tables, history: SharedHistory) {
    const { rows } = history;
    this.#tables = tables;
    this.#first = tables.objects.lastNumber() + 1;
    const found = tables.objects.lookupMany(rows.oid);
    this.#numbers = Uint32Array.from(found.number, (number, row) =>
      number === 0 ? this.#first + this.#fresh.push(row) - 1 : number,
    );
    this.#introducers = Uint32Array.from(found.introducer);
    this.#rowOf = new Map(Array.from(rows.number, (number, row) => [number, row]));
    // A commit may have come meanwhile.
    const nodes = history.nodes.filter(({ number }) => tables.graph.position(this.#numberOf(number)) < 0);
    this.#history = { ...history, nodes };
  }

  run(nowMs: number, who: string | null): NumberSet {
    const { objects, reachability, shared, pushes, vetted } = this.#tables;
    const added = NumberSet.range(this.#first, this.#first + this.#fresh.length);
    this.#introduce();
    // First, since chunks belong to a push. It moves no ref.
    const push = pushes.append({ timeMs: nowMs, who, refs: [], packBytes: 0, objects: this.#fresh.length });
    this.#insertRows(push);
    const bases = NumberSet.decode(this.#history.bases).toArray();
    objects.hide(NumberSet.fromUnsorted(Array.from(bases, (base) => this.#numberOf(base))).intersection(added));
    this.#insertNodes();
    objects.setIntroducers(this.#adopted);
    reachability.reintroduce(this.#reintroduced.toSorted((a, b) => a.object - b.object || a.introducer - b.introducer));
    for (const [object, names] of this.#history.vetted) vetted.add(this.#numberOf(object), names);
    this.#enterPointers();
    shared.add(added);
    return added;
  }

  #enterPointers(): void {
    const { pointers } = this.#history;
    if (pointers.length === 0) return;
    const { lfs } = this.#tables;
    lfs.begin(this.#first - 1);
    lfs.addPointers(pointers.map((pointer) => ({ ...pointer, object: this.#numberOf(pointer.object) })));
  }

  namedLfs(): NamedByPointer[] {
    const { pointers, lfs } = this.#history;
    const byOid = new Map(lfs.map((stored) => [stored.oid, stored]));
    return pointers.flatMap(({ object, oid }) => {
      const stored = byOid.get(oid);
      return stored === undefined ? [] : [{ pointer: this.#numberOf(object), stored }];
    });
  }

  #numberOf(theirs: ObjectNumber): ObjectNumber {
    return this.#numbers[this.#rowOf.get(theirs)!]!;
  }

  /** Finds each object's introducers among the new nodes. Which objects a node introduces is the
   * same in every repository. */
  #introduce(): void {
    for (const { number, introduced } of this.#history.nodes) {
      const node = this.#numberOf(number);
      for (const theirs of NumberSet.decode(introduced).toArray()) {
        const row = this.#rowOf.get(theirs)!;
        const object = this.#numbers[row]!;
        if (this.#introducers[row] === 0) {
          this.#introducers[row] = node;
          if (object < this.#first) this.#adopted.set(object, node);
        } else if (this.#reintroduced.push({ object, introducer: node }) > MAX_REINTRODUCTIONS) {
          const what = "objects that several of the commits bring";
          throw new GitError("too-large", { what, limit: MAX_REINTRODUCTIONS, actual: this.#reintroduced.length });
        }
      }
    }
  }

  /** Inserts the new objects' rows, and the chunks that they are in. */
  #insertRows(push: number): void {
    const { rows } = this.#history;
    const added = newObjectColumns(this.#fresh.length);
    for (const [i, row] of this.#fresh.entries()) {
      for (const name of [...PLACE, "type", "size"] as const) added[name][i] = rows[name][row]!;
      added.number[i] = this.#numbers[row]!;
      added.oid.set(rows.oid.subarray(row * OID_BYTES, (row + 1) * OID_BYTES), i * OID_BYTES);
      added.base[i] = rows.base[row] === 0 ? 0 : this.#numberOf(rows.base[row]!);
      added.introducer[i] = this.#introducers[row]!;
    }
    this.#insertChunks(added, push);
    this.#tables.objects.insertMany(added);
  }

  /** Inserts the chunks of some rows, and sets the rows' chunk ids to those that they get. */
  #insertChunks(rows: ObjectColumns, push: number): void {
    const { chunks } = this.#tables;
    const firstId = chunks.nextId();
    const members = new Map<number, number[]>();
    rows.chunk.forEach((chunk, i) => {
      const list = members.get(chunk);
      if (list === undefined) members.set(chunk, [i]);
      else list.push(i);
    });
    const used = this.#history.chunks.filter(({ id }) => members.has(id));
    const inserted = used.map(({ id, key, start, size, checksum, bytes }, k): NewChunk => {
      const own = members.get(id)!;
      for (const i of own) rows.chunk[i] = firstId + k;
      const basesOf = (some: readonly number[]): ObjectNumber[] => some.map((i) => rows.base[i]!);
      return {
        key,
        start,
        bytes,
        size,
        checksum,
        push,
        // As if maintenance had made it: nothing says which bytes are whose.
        packOffset: 0,
        firstNumber: rows.number[own[0]!]!,
        lastNumber: rows.number[own.at(-1)!]!,
        whole: false,
        ofsFloor: lowest(basesOf(own.filter((i) => rows.distance[i] !== 0))),
        baseFloor: lowest(basesOf(own)),
        objects: null,
      };
    });
    chunks.insert(inserted, firstId);
  }

  #insertNodes(): void {
    const { graph, objects } = this.#tables;
    const { nodes } = this.#history;
    const before = graph.length;
    const { number: named } = objects.lookupMany(concatOids(nodes.flatMap(({ tree, parents }) => [tree, parents])));
    if (named.includes(0)) {
      throw new GitError("storage-failed", {
        key: "commits",
        reason: "the history of another repository is incomplete",
      });
    }
    const introduced = new Map<ObjectNumber, NumberSet>();
    let at = 0;
    graph.append(
      nodes.map((node) => {
        const number = this.#numberOf(node.number);
        const numbers = Array.from(NumberSet.decode(node.introduced).toArray(), (theirs) => this.#numberOf(theirs));
        introduced.set(number, NumberSet.fromUnsorted(numbers));
        const tree = named[at++]!;
        const parents = Array.from(named.subarray(at, (at += node.parents.length / OID_BYTES)));
        return { number, parents, tree, time: node.time };
      }),
    );
    const sets: NumberSet[] = [];
    for (let position = before; position < graph.length; position++) sets.push(introduced.get(graph.number(position))!);
    this.#tables.writeNodes(before, sets);
  }
}
