import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { concatOids, toHex } from "../../base/format/oid.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectRow } from "../store/index/object-columns.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";
import { IntroducerReader, type IntroducerSlice } from "./introducers.ts";

/** Rows that are checked at a time. */
const PAGE_ROWS = 2_000;

/** Bytes that are hashed in the time that a row takes. */
const BYTES_PER_ROW = 512;

/** Checks the rows of objects by number: that each number not pruned exists and is found by its id,
 * and that the chunk, base and graph nodes named by a row exist. */
export const checkIndex: FsckStage = async (run, after) => {
  let last = Number(after);
  const { objects } = run.tables;
  const pruned = await run.attempt("which objects were pruned", () => objects.pruned(), null);
  const reader = new IntroducerReader(run);
  const hidden = await run.attempt("which objects are hidden", () => objects.hidden(), NumberSet.EMPTY);
  for (;;) {
    const page = await readPage(run, last);
    if (page === null) return null;
    const further = await run.attempt("introducers of objects", () => readIntroducers(reader, page.rows), null);
    // As many as have few enough introducers.
    const rows = page.rows.slice(0, further?.end);
    const end = rows.length < page.rows.length ? rows.at(-1)!.number : page.end;
    if (pruned !== null) checkNumbers(run, NumberSet.range(last + 1, end + 1), rows, pruned);
    // Of the others nothing is known but their places.
    const shown = rows.filter(({ number }) => !hidden.has(number));
    await run.attempt("places of objects", () => checkPlaces(run, rows), undefined);
    await run.attempt("ids of objects", () => checkIds(run, shown), undefined);
    if (further !== null)
      await run.attempt("introducers of objects", () => checkIntroducers(run, shown, further.pairs), undefined);
    last = end;
    await run.step(rows.length * BYTES_PER_ROW);
    await run.readRows(further?.pairs.length ?? 0);
    if (run.isSpent) return String(last);
  }
};

/** Rows of objects, and up to which number; a page of them that cannot be read is left out.
 * @returns null: there are no more */
async function readPage(run: FsckRun, last: number): Promise<{ rows: ObjectRow[]; end: number } | null> {
  const rows = await run.attempt("rows of objects", () => run.audit.objects(last, PAGE_ROWS), null);
  if (rows !== null) return rows.length === 0 ? null : { rows, end: rows.at(-1)!.number };
  const next = run.audit.nextPage(last + 1);
  return next === null ? null : { rows: [], end: next - 1 };
}

function checkNumbers(run: FsckRun, range: NumberSet, rows: readonly ObjectRow[], pruned: NumberSet): void {
  const there = NumberSet.fromSorted(rows.map(({ number }) => number));
  const { runs } = range.difference(pruned).difference(there);
  for (let r = 0; r < runs.length; r += 2) {
    const [first, end] = [runs[r]!, runs[r + 1]!];
    run.report({ kind: "object-row", detail: `the rows of objects number ${first} to ${end - 1} are missing` });
  }
  for (const { number, oid } of rows) {
    if (pruned.has(number))
      run.report({ kind: "object-row", oid: toHex(oid), detail: "it exists, but is listed as pruned" });
  }
}

/** Checks that each object is found by its id. */
function checkIds(run: FsckRun, rows: readonly ObjectRow[]): void {
  const found = run.tables.objects.lookupMany(concatOids(rows.map(({ oid }) => oid))).number;
  rows.forEach(({ number, oid }, i) => {
    if (found[i] !== number) run.report({ kind: "object-row", oid: toHex(oid), detail: "its id does not lead to it" });
  });
}

function checkPlaces(run: FsckRun, rows: readonly ObjectRow[]): void {
  const bases = run.audit.namedObjects(rows.filter(({ base }) => base !== 0).map(({ base }) => base));
  for (const { number, oid, chunk, offset, length, base } of rows) {
    const say = (detail: string): void => run.report({ kind: "object-row", oid: toHex(oid), chunk, detail });
    const place = run.tables.chunks.find(chunk);
    if (place === null) say("its chunk has no row");
    else if (number < place.firstNumber || number > place.lastNumber)
      say("its chunk does not hold objects of its number");
    else if (offset + length > place.size) say("its entry extends beyond its chunk");
    if (base !== 0 && !bases.has(base)) say(`its delta base, object number ${base}, is missing`);
  }
}

function readIntroducers(reader: IntroducerReader, rows: readonly ObjectRow[]): IntroducerSlice {
  return reader.next(
    Uint32Array.from(rows, ({ number }) => number),
    0,
  );
}

/** Checks that the graph nodes named as introducers exist, and list the object. */
function checkIntroducers(run: FsckRun, rows: readonly ObjectRow[], further: IntroducerSlice["pairs"]): void {
  const introducers = new Map<ObjectNumber, ObjectNumber[]>();
  for (const { number, introducer } of rows) introducers.set(number, [introducer]);
  for (const [object, introducer] of further) introducers.get(object)?.push(introducer);
  // It was not introduced so far.
  for (const some of introducers.values()) if (some.length === 1 && some[0] === 0) some.pop();
  const nodes = run.audit.nodes(introducers.values().flatMap((some) => some));
  for (const row of rows) {
    for (const introducer of introducers.get(row.number)!) {
      const node = nodes.get(introducer);
      if (node?.introduced?.has(row.number) === true) continue;
      const what = node === undefined ? "is missing" : "does not list it";
      const detail = `its row says that node ${introducer} introduced it, but that node ${what}`;
      run.report({ kind: "reachability", oid: toHex(row.oid), detail });
    }
  }
}
