/** Histories with a field that is very long, or very often there: headers, messages, names,
 * parents, lines of a mailmap. Their packs are small. */
import { Draft, type HostileHistory } from "./hostile-draft.ts";
import { type MadeObject, makeObject, PERSON } from "./pack-builder.ts";
import { Random } from "./random.ts";

const MEGABYTES = 1_000_000;

/** Commits whose only header more is two million lines of it. */
export function headerBombs(count: number): HostileHistory {
  const lines = Buffer.alloc(8 * MEGABYTES, "x y\n");
  return commitBombs(`${count} commits of two million headers`, count, { headers: lines });
}

/** Commits with one header of very many lines. */
export function continuationBombs(count: number): HostileHistory {
  const lines = Buffer.concat([Buffer.from("gpgsig x\n"), Buffer.alloc(8 * MEGABYTES, " y\n")]);
  return commitBombs(`${count} commits of a header of many lines`, count, { headers: lines });
}

/** Commits, and tags of them, with messages of 8 MB. */
export function messageBombs(count: number): HostileHistory {
  const message = Buffer.alloc(8 * MEGABYTES, "a line of a message\n");
  return commitBombs(`${count} commits and tags of long messages`, count, { message });
}

/** Commits, and tags of them, with a first line of 8 MB. */
export function subjectBombs(count: number): HostileHistory {
  const message = Buffer.alloc(8 * MEGABYTES, "one line ");
  return commitBombs(`${count} commits and tags of long first lines`, count, { message });
}

/** Commits whose author's name and committer's email have 4 MB each. */
export function nameBombs(count: number): HostileHistory {
  const long = "n".repeat(4 * MEGABYTES);
  const author = `${long} <ada@example.com> 1700000000 +0100`;
  const committer = `Ada <${long}> 1700000000 +0100`;
  return commitBombs(`${count} commits of long names`, count, { author, committer });
}

/** A commit of very many parents. */
export function parentBomb(count: number): HostileHistory {
  const draft = new Draft(new Random(1), Infinity);
  const tree = draft.tree(["100644", "a", draft.add(makeObject("blob", "content\n"))]);
  const parents = Array.from({ length: count }, (_, i) => draft.commit(tree, [], `${i}\n`));
  const main = draft.commit(tree, parents, "Many parents\n");
  draft.ref("tags/top", draft.add(makeTagBomb(main, Buffer.from("top\n"))));
  return draft.finish(`a commit of ${count} parents`, main, parents[0]!);
}

/** A mailmap of very many lines. */
export function mailmapBomb(count: number): HostileHistory {
  const draft = new Draft(new Random(1), Infinity);
  const lines = Array.from({ length: count }, (_, i) => `A <a@${i}> <ada@example.com>\n`).join("");
  const first = draft.commit(draft.tree(["100644", ".mailmap", draft.add(makeObject("blob", lines))]));
  const other = draft.add(makeObject("blob", `${lines}B <b@b>\n`));
  const main = draft.commit(draft.tree(["100644", ".mailmap", other]), [first]);
  return draft.finish(`a mailmap of ${count} lines`, main, first, { file: ".mailmap" });
}

interface CommitFields {
  readonly headers?: Buffer;
  readonly message?: Buffer;
  readonly author?: string;
  readonly committer?: string;
}

function commitBombs(shape: string, count: number, fields: CommitFields): HostileHistory {
  const draft = new Draft(new Random(1), Infinity);
  const { headers = Buffer.alloc(0), author = PERSON, committer = PERSON } = fields;
  let tip: MadeObject | null = null;
  let first: MadeObject | null = null;
  for (let i = 0; i < count; i++) {
    const tree = draft.tree(["100644", "a", draft.add(makeObject("blob", `line ${i}\n`))]);
    const start = `tree ${tree.oid}\n${tip === null ? "" : `parent ${tip.oid}\n`}author ${author}\ncommitter ${committer}\n`;
    const message = fields.message ?? Buffer.from("Message\n");
    const content = Buffer.concat([Buffer.from(start), headers, Buffer.from(`\ncommit ${i}\n`), message]);
    tip = draft.add(makeObject("commit", content));
    first ??= tip;
    if (fields.message !== undefined) draft.ref(`tags/t${i}`, draft.add(makeTagBomb(tip, message)));
  }
  draft.ref("tags/top", draft.add(makeTagBomb(tip!, fields.message ?? Buffer.from("top\n"))));
  return { ...draft.finish(shape, tip!, first!), isBomb: true };
}

function makeTagBomb(target: MadeObject, message: Buffer): MadeObject {
  const start = `object ${target.oid}\ntype commit\ntag top\ntagger ${PERSON}\n\n`;
  return makeObject("tag", Buffer.concat([Buffer.from(start), message]));
}
