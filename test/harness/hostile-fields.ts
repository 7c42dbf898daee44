/** Small histories with one field that is far too long, or that occurs far too often: a header, a
 * message, a name, a parent, an entry of a tree, a line of a file. Git accepts them all. */
import { Draft, type HostileHistory, BLOB, nameOf } from "./hostile-draft.ts";
import { type MadeObject, type MadeTreeEntry, makeObject, PERSON } from "./pack-builder.ts";
import type { Random } from "./random.ts";

/** Size of a pack, bytes. */
const PACK_BYTES = 2 * 1024 * 1024;

/** Inflated bytes of what is repeated in one history, at least and at most. */
const LEAST_BYTES = 64 * 1024;
const MOST_BYTES = 128 * 1024 * 1024;

/** Inflated bytes of one object: one that must be in memory as a whole may have 32 MiB. */
const MOST_OBJECT_BYTES = 24 * 1024 * 1024;

/** Generates such a history from a seeded source. */
export function makeHostileFields(random: Random): HostileHistory {
  const [name, shape] = random.pick(Object.entries(SHAPES));
  const bytes = Math.floor(LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** (random.below(1_000) / 999));
  const objects = random.pick([1, 3, 10, 40]);
  const each = Math.min(MOST_OBJECT_BYTES, Math.ceil(bytes / objects));
  const draft = new Draft(random, PACK_BYTES);
  const history = shape({ draft, random, objects: Math.max(1, Math.min(objects, Math.floor(bytes / each))), each });
  return { ...history, shape: `${name}: ${history.shape}` };
}

interface Plan {
  readonly draft: Draft;
  readonly random: Random;
  /** Objects that have the field. */
  readonly objects: number;
  /** Bytes of the field in each. */
  readonly each: number;
}

type Shape = (plan: Plan) => HostileHistory;

/** Repeats a text that may tell each repetition apart, to a number of bytes. */
function fill(bytes: number, unit: string | ((index: number) => string)): string {
  if (typeof unit === "string") return unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))));
  const parts: string[] = [];
  for (let length = 0; length < bytes;) {
    const part = unit(parts.length);
    length += Buffer.byteLength(part);
    parts.push(part);
  }
  return parts.join("");
}

const root = (draft: Draft): MadeObject => draft.tree(["100644", "a", draft.add(BLOB)]);

/** A line of commits whose headers and message are given by their number. */
function commitsOf({ draft, objects }: Plan, make: (index: number) => { headers?: string; message?: string }) {
  const tree = root(draft);
  let tip: MadeObject | null = null;
  const made: MadeObject[] = [];
  for (let i = 0; i < objects && draft.hasRoom(100_000); i++) {
    const { headers = `author ${PERSON}\ncommitter ${PERSON}\n`, message = `${i}\n` } = make(i);
    const parent = tip === null ? "" : `parent ${tip.oid}\n`;
    tip = draft.add(makeObject("commit", `tree ${tree.oid}\n${parent}${headers}\n${message}`));
    made.push(tip);
  }
  return { tip: tip!, first: made[0]!, count: made.length };
}

const PEOPLE = `author ${PERSON}\ncommitter ${PERSON}\n`;

const headers: Shape = (plan) => {
  const [unit, what] = plan.random.pick([
    ["x 1\n", "short headers"],
    ["\n ", "continuation lines"],
    ["encoding utf-8\n", "encodings"],
    ["gpgsig x\n", "signatures"],
    ["mergetag object\n", "tags of merges"],
  ] as const);
  const many = unit === "\n " ? `gpgsig a${fill(plan.each, unit)}\n` : fill(plan.each, unit);
  const { tip, first, count } = commitsOf(plan, () => ({ headers: PEOPLE + many }));
  return plan.draft.finish(`${count} commits of ${plan.each} bytes of ${what}`, tip, first);
};

const longHeader: Shape = (plan) => {
  const key = plan.random.pick(["x", "encoding", "gpgsig"]);
  const long = `${key} ${"a".repeat(plan.each)}\n`;
  const { tip, first, count } = commitsOf(plan, () => ({ headers: PEOPLE + long }));
  return plan.draft.finish(`${count} commits with ${key} of ${plan.each} bytes`, tip, first);
};

const messages: Shape = (plan) => {
  const unit = plan.random.pick([
    "a",
    "\n",
    "a\n",
    " ",
    "a b\n\n",
    "Co-authored-by: A <a@example.com>\n",
    "Signed-off-by: A <a@example.com>\n",
    "https://a.example/ ",
    "#1 ",
    "\u202e",
    "é",
  ]);
  const text = `${plan.random.pick(["", "subject\n\n"])}${fill(plan.each, unit)}`;
  const { tip, first, count } = commitsOf(plan, (i) => ({ message: `${text}${i}\n` }));
  return plan.draft.finish(`${count} messages of ${plan.each} bytes of ${JSON.stringify(unit)}`, tip, first);
};

const people: Shape = (plan) => {
  const how = plan.random.pick(["name", "email", "blanks", "zone", "many"] as const);
  const long = fill(Math.min(plan.each, 4 * 1024 * 1024), "a");
  const many = how === "many" ? { ...plan, objects: 3_000 } : plan;
  const { tip, first, count } = commitsOf(many, (i) => {
    const person = {
      name: `${long}${i} <ada@example.com> 1700000000 +0100`,
      email: `Ada <${long}${i}@example.com> 1700000000 +0100`,
      blanks: `A${long.replaceAll("a", " ")}${i} <ada@example.com> 1700000000 +0100`,
      zone: `Ada <ada@example.com> ${1_700_000_000 + i} +9959`,
      many: `Author ${i} <author-${i}@example.com> ${1_700_000_000 + i} +0100`,
    }[how];
    return { headers: `author ${person}\ncommitter ${person}\n` };
  });
  return plan.draft.finish(`${count} commits with ${how} of ${plan.each} bytes`, tip, first);
};

const tagFields: Shape = (plan) => {
  const { draft, random, objects, each } = plan;
  const main = draft.commit(root(draft));
  const how = random.pick(["message", "headers", "tagger", "name"] as const);
  const long = fill(each, how === "headers" ? "x 1\n" : random.pick(["a", "a\n"]));
  let count = 0;
  for (; count < objects && draft.hasRoom(100_000); count++) {
    const head = `object ${main.oid}\ntype commit\ntag `;
    const tag = {
      message: `${head}t${count}\ntagger ${PERSON}\n\n${long}`,
      headers: `${head}t${count}\ntagger ${PERSON}\n${long}\nmessage\n`,
      tagger: `${head}t${count}\ntagger ${"a".repeat(each)} <a@example.com> 1700000000 +0100\n\nmessage\n`,
      name: `${head}${"a".repeat(each)}${count}\ntagger ${PERSON}\n\nmessage\n`,
    }[how];
    draft.ref(`tags/t${count}`, draft.add(makeObject("tag", tag)));
  }
  draft.ref("tags/top", main);
  return draft.finish(`${count} tags with ${how} of ${each} bytes`, main, main);
};

const parents: Shape = ({ draft, random, each }) => {
  const tree = root(draft);
  const isDistinct = random.below(2) === 0;
  const count = Math.min(isDistinct ? 10_000 : 60_000, Math.ceil(each / 48));
  const base = draft.commit(tree);
  const all: MadeObject[] = [];
  for (let i = 0; i < (isDistinct ? count : 1) && draft.hasRoom(600_000); i++)
    all.push(draft.commit(tree, [base], `${i}\n`));
  const main = draft.commit(tree, isDistinct ? all : Array<MadeObject>(count).fill(all[0]!));
  const fork = draft.commit(tree, [main], "beside\n");
  return draft.finish(`a merge of ${count} parents, ${isDistinct ? "all different" : "one and the same"}`, main, fork);
};

const entries: Shape = ({ draft, random, each }) => {
  const length = random.pick([4, 60, 250, 4_000]);
  const mode = random.pick(["100644", "40000", "160000", "120000"]);
  const leaf =
    mode === "160000"
      ? "12".repeat(20)
      : mode === "40000"
        ? draft.tree(["100644", "a", draft.add(BLOB)])
        : draft.add(BLOB);
  const count = Math.min(300_000, Math.ceil(each / (length + 28)));
  const build = (salt: string): MadeObject =>
    draft.wideTree(
      Array.from({ length: count }, (_, i): MadeTreeEntry => {
        const name = `${salt}${i.toString(36).padStart(5, "0")}`;
        return [mode, name.padEnd(length, "n"), leaf];
      }),
    );
  const base = draft.commit(build("a"));
  const main = draft.commit(build("b"), [base]);
  const fork = draft.commit(build("c"), [base]);
  const file = `b${"0".repeat(5)}`.padEnd(length, "n");
  return draft.finish(`${count} entries of mode ${mode} with names of ${length}`, main, fork, {
    directory: mode === "40000" ? file : "",
    file,
  });
};

const oneBlob: Shape = ({ draft, random, each }) => {
  const blob = draft.add(makeObject("blob", Buffer.alloc(Math.min(each, 4 * 1024 * 1024), "line\n")));
  const count = 10 + random.below(1_500);
  const tree = draft.tree(...Array.from({ length: count }, (_, i) => ["100644", nameOf(i), blob] as const));
  const base = draft.commit(root(draft));
  const main = draft.commit(tree, [base]);
  return draft.finish(`one blob of ${blob.content.length} bytes, ${count} times`, main, base, { file: nameOf(0) });
};

const SOURCE = [
  "a",
  "a.ts",
  "a.html",
  "a.css",
  "a.md",
  "a.json",
  "a.xml",
  "a.sh",
  "a.sql",
  "a.svg",
  "a.diff",
  "a.ipynb",
];

const lines: Shape = ({ draft, random, each }) => {
  const unit = random.pick([
    "\n",
    "a\n",
    "a",
    "\r",
    "\t",
    "(",
    "<a>",
    "/* ",
    '"',
    "`${",
    "{",
    "a\r\n",
    "é\n",
    "\0",
    "${",
  ]);
  const name = random.pick(SOURCE);
  const file = (salt: string): MadeObject =>
    draft.tree(["100644", name, draft.add(makeObject("blob", `${salt}${fill(each, unit)}${salt}`))]);
  const base = draft.commit(file("one\n"));
  const main = draft.commit(file("two\n"), [base]);
  const fork = draft.commit(file("three\n"), [base]);
  return draft.finish(`${name} of ${each} bytes of ${JSON.stringify(unit)}`, main, fork, { file: name });
};

/** Units of Markdown whose parsers, or what comes behind them, have been slow somewhere. */
const MARKDOWN: readonly (string | ((index: number) => string))[] = [
  "//a.b/",
  "a.b ",
  "www.a.b/",
  "a@b.c ",
  "http://",
  "*a ",
  "**a ",
  "_a_b",
  "[",
  "[a](",
  "![",
  "[a]: b\n",
  "[^1]",
  (i) => `[^${i}]: note\n\n[^${i}] `,
  "<",
  "<a>",
  "<div>\n\n",
  "<!--",
  "&amp;",
  "&#35;",
  "`",
  "```js\na\n```\n",
  "~~~\n",
  "> ",
  "- ",
  "- a\n",
  (i) => `${" ".repeat(2 * (i % 200))}- a\n`,
  (i) => `${i}. a\n`,
  "|a",
  "|a|b|\n|-|-|\n|c|d|\n",
  "# a\n",
  "a\n=\n",
  "\\",
  "- [ ] a\n",
  "~~a",
  ":a:",
  "@a ",
  "#1 ",
  "$a$",
  "a\n\n",
];

const readme: Shape = ({ draft, random, each }) => {
  const unit = random.pick(MARKDOWN);
  const before = random.pick(["", "# Title\n\n", "|a|b|\n|-|-|\n|", "> ", "```html\n"]);
  const name = random.pick(["README.md", "readme.md", "README", "docs/README.md"]);
  const text = (salt: string): MadeObject =>
    draft.add(makeObject("blob", `${before}${fill(Math.min(each, 2 * 1024 * 1024), unit)}${salt}`));
  const tree = (salt: string): MadeObject =>
    name.startsWith("docs/")
      ? draft.tree(["40000", "docs", draft.tree(["100644", "README.md", text(salt)])])
      : draft.tree(["100644", name, text(salt)]);
  const base = draft.commit(tree("1\n"));
  const main = draft.commit(tree("2\n"), [base]);
  const what = typeof unit === "string" ? JSON.stringify(unit) : JSON.stringify(unit(1));
  return draft.finish(`${name} of ${each} bytes of ${what}`, main, base, {
    directory: name.startsWith("docs/") ? "docs" : "",
    file: name,
  });
};

const special: Shape = ({ draft, random, each }) => {
  const [name, unit] = random.pick<readonly [string, string | ((index: number) => string)]>([
    [".mailmap", (i) => `Name ${i} <n${i}@example.com> Old ${i} <o${i}@example.com>\n`],
    [".mailmap", "A <a@example.com> <ada@example.com>\n"],
    [".mailmap", "<"],
    [".gitattributes", (i) => `f${i} export-ignore merge=union text eol=crlf\n`],
    [".gitattributes", "[attr]a b c d\n"],
    [".gitattributes", "a b c d e f g h i j\n"],
    [".gitignore", (i) => `*${i}*\n`],
    [".gitmodules", (i) => `[submodule "${i}"]\n\tpath = s${i}\n\turl = https://a.example/${i}\n`],
    [".gitmodules", '[submodule "a"]\n'],
    [".lfsconfig", "[lfs]\n"],
    ["CODEOWNERS", (i) => `f${i} @a\n`],
    ["LICENSE", "MIT License "],
    ["link", "../"],
  ]);
  const special = draft.add(makeObject("blob", fill(Math.min(each, 4 * 1024 * 1024), unit)));
  const mode = name === "link" ? "120000" : "100644";
  const some = Array.from({ length: 500 }, (_, i) => ["100644", `f${i}`, draft.add(BLOB)] as const);
  const base = draft.commit(draft.tree([mode, name, special], ...some.slice(1)));
  const main = draft.commit(draft.tree([mode, name, special], ...some), [base]);
  const fork = draft.commit(draft.tree([mode, name, special], ...some.slice(2)), [base]);
  const what = JSON.stringify(typeof unit === "string" ? unit : unit(1));
  return draft.finish(`${name} of ${special.content.length} bytes of ${what}`, main, fork, { file: name });
};

const refNames: Shape = ({ draft, random }) => {
  const tree = root(draft);
  const main = draft.commit(tree);
  const length = random.pick([5, 200, 900]);
  const count = random.pick([1_000, 5_000, 20_000]);
  const kind = random.pick(["heads", "tags", "notes"]);
  for (let i = 0; i < Math.min(count, 8_000_000 / (length + 40)); i++) {
    // Components above 255 bytes are refused by file systems.
    const parts = "n".repeat(length).replaceAll(/.{200}/g, "$&/");
    draft.ref(`${kind}/r${i}/${parts}x`, main);
  }
  return draft.finish(`${count} refs below ${kind} with names of ${length}`, main, draft.commit(tree, [main]));
};

const SHAPES: Readonly<Record<string, Shape>> = {
  headers,
  "long header": longHeader,
  messages,
  people,
  tags: tagFields,
  parents,
  entries,
  "one blob": oneBlob,
  lines,
  readme,
  special,
  refs: refNames,
};
