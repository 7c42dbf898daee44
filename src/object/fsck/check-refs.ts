import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { isRefName } from "../../base/format/ref-name.ts";
import { parseTag } from "../../base/format/tag.ts";
import { concatOids, equalOids, type Oid, toHex } from "../../base/format/oid.ts";
import { COMMIT, TAG } from "../../base/format/object.ts";
import type { ObjectRow } from "../store/index/object-columns.ts";
import type { Ref } from "../store/refs/refs.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";

/** Refs that are read at a time. */
const PAGE_REFS = 500;

/** Checks HEAD, and the refs by name: that they point to nodes of the graph, that tags are peeled
 * correctly, and that the names do not conflict. */
export const checkRefs: FsckStage = async (run, after) => {
  if (after === "") await run.attempt("HEAD", () => checkHead(run), undefined);
  let last = after;
  const peeled: Peeled = new Map();
  for (;;) {
    const page = run.tables.refs.page("", last === "" ? null : last, PAGE_REFS);
    if (page.length === 0) return null;
    for (const ref of page) {
      run.checked.refs += 1;
      checkName(run, ref.name);
    }
    await run.attempt("targets of refs", () => checkTargets(run, page, peeled), undefined);
    last = page.at(-1)!.name;
    if (run.isSpent) return last;
  }
};

async function checkTargets(run: FsckRun, page: readonly Ref[], peeled: Peeled): Promise<void> {
  const { number } = run.tables.objects.lookupMany(concatOids(page.map(({ oid }) => oid)));
  const rows = run.audit.namedObjects(number.filter((one) => one !== 0));
  const nodes = run.audit.nodes(rows.keys());
  for (const [i, ref] of page.entries()) {
    await run.step();
    const row = rows.get(number[i]!);
    const say = (detail: string): void =>
      run.report({ kind: "ref-target", ref: ref.name, oid: toHex(ref.oid), detail });
    if (row === undefined) say("its object is missing");
    else if (!nodes.has(row.number)) say("its object is not in the graph");
    else if (ref.name.startsWith("refs/heads/") && row.type !== COMMIT) say("a branch must be at a commit");
    else await checkPeeled(run, ref, row, peeled);
  }
}

function checkHead(run: FsckRun): void {
  const { refs } = run.tables;
  const head = refs.head();
  const say = (detail: string): void => run.report({ kind: "head", ref: "HEAD", detail });
  if (head === null) {
    // Only tags were ever pushed.
    if (refs.page("refs/heads/", null, 1).length > 0) say("there are branches, but HEAD names none");
  } else if (!head.startsWith("refs/heads/") || !isRefName(head)) {
    say("it does not name a branch");
  }
}

function checkName(run: FsckRun, name: string): void {
  const say = (detail: string): void => run.report({ kind: "ref-name", ref: name, detail });
  if (!name.startsWith("refs/") || !isRefName(name)) say("it is not a valid ref name");
  for (let slash = name.indexOf("/"); slash >= 0; slash = name.indexOf("/", slash + 1)) {
    if (run.tables.refs.get(name.slice(0, slash)) !== null) say(`${name.slice(0, slash)} is a ref too`);
  }
}

/** The objects that tags are finally peeled to, by object number. Chains of tags may be long: each
 * tag is read once, however many point to it. */
type Peeled = Map<ObjectNumber, Oid>;

async function checkPeeled(run: FsckRun, ref: Ref, target: ObjectRow, known: Peeled): Promise<void> {
  let row: ObjectRow | null = target;
  let peeled: Oid | null = null;
  const way: ObjectNumber[] = [];
  try {
    while (row?.type === TAG) {
      const end = known.get(row.number);
      way.push(row.number);
      peeled = end ?? parseTag((await run.entries.readObject(row)).bytes).object;
      if (end !== undefined) break;
      row = run.tables.objects.find(peeled);
      await run.step();
    }
  } catch (error) {
    // An unreadable tag was reported with the tag itself.
    await run.damageOf(error);
    return;
  }
  for (const tag of way) known.set(tag, peeled!);
  if (peeled === null ? ref.peeled === null : ref.peeled !== null && equalOids(peeled, ref.peeled)) return;
  const shown = (oid: Oid | null): string => (oid === null ? "nothing" : toHex(oid));
  const detail = `it is stored as peeled to ${shown(ref.peeled)}, but peels to ${shown(peeled)}`;
  run.report({ kind: "ref-peeled", ref: ref.name, oid: toHex(ref.oid), detail });
}
