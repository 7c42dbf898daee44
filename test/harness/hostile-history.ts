/** Small histories that nobody would write but git accepts: a few kilobytes that mean far more. */
import { deflateRawSync } from "node:zlib";
import { MAX_REINTRODUCTIONS } from "../../src/base/format/limits.ts";
import {
  copy,
  encodeDelta,
  insert,
  type MadeObject,
  type MadeTreeEntry,
  makeObject,
  makeTag,
  makeTree,
} from "./pack-builder.ts";
import { BLOB, Draft, type HostileHistory, nameOf } from "./hostile-draft.ts";
import type { Random } from "./random.ts";

/** Size of a pack, bytes. */
const LEAST_BYTES = 1_024;
const MOST_BYTES = 256 * 1_024;

/** Generates a history of 1 KB to 256 KB from a seeded source. */
export function makeHostileHistory(random: Random): HostileHistory {
  const budget = Math.floor(LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** (random.below(1_000) / 999));
  return random.pick(SHAPES)(new Draft(random, budget));
}

type Shape = (draft: Draft) => HostileHistory;

/** Few trees with many paths: each contains the next several times. */
const bomb: Shape = (draft) => {
  const { random } = draft;
  const [width, levels] = [2 + random.below(30), 2 + random.below(30)];
  const build = (salt: string): MadeObject => {
    const leaf = draft.leaf();
    let tree = draft.tree([leaf.mode, `end${salt}`, leaf.object]);
    for (let level = 0; level < levels && (level < 6 || draft.hasRoom(1_000)); level++) {
      tree = draft.tree(...Array.from({ length: width }, (_, i) => ["40000", nameOf(i), tree] as const));
    }
    return tree;
  };
  const base = draft.commit(build("0"));
  const main = draft.commit(build("1"), [base]);
  const fork = draft.commit(build("2"), [base]);
  const directory = Array<string>(random.below(levels)).fill(nameOf(0)).join("/");
  return draft.finish(`a bomb of ${levels} levels of ${width}`, main, fork, { directory, file: nameOf(0) });
};

/** Directories nested as deep as the budget allows. */
const deep: Shape = (draft) => {
  const { random } = draft;
  const isNarrow = random.below(2) === 0;
  const leaf = draft.leaf();
  let tree = draft.tree([leaf.mode, "a", leaf.object]);
  let depth = 0;
  for (; draft.hasRoom(1_500); depth++) {
    tree = draft.tree(
      ["40000", "a", tree],
      ...(isNarrow ? [] : ([[leaf.mode, `f${depth}`, leaf.object]] as MadeTreeEntry[])),
    );
  }
  const base = draft.commit(tree);
  const main = draft.commit(draft.tree(["40000", "a", tree], ["40000", "b", tree]), [base]);
  const fork = draft.commit(draft.tree(["40000", "a", tree], ["40000", "c", tree]), [base]);
  const path = Array<string>(Math.min(depth, random.below(2_000)))
    .fill("a")
    .join("/");
  return draft.finish(`${depth} directories in each other`, main, fork, { directory: path, file: path });
};

/** One directory with as many entries as the budget allows. */
const wide: Shape = (draft) => {
  const { random } = draft;
  const leaf = draft.leaf();
  const build = (count: number, salt: string): MadeTreeEntry[] =>
    Array.from({ length: count }, (_, i) => [leaf.mode, `${salt}${nameOf(i)}`, leaf.object] as const);
  const size = (entries: MadeTreeEntry[]): number => deflateRawSync(makeTree(...entries).content).length;
  let count = 16;
  while (count < 200_000 && draft.hasRoom(size(build(count * 2, "a")) * 4)) count *= 2;
  const base = draft.commit(draft.tree(...build(count, "a")));
  const main = draft.commit(draft.tree(...build(count, "b")), [base]);
  const fork = draft.commit(draft.tree(...build(count + 1, "c")), [base]);
  return draft.finish(`${count} entries, ${leaf.name}`, main, fork, { file: `b${nameOf(random.below(count))}` });
};

/** Annotated tags of annotated tags, some with a ref of their own. */
const tags: Shape = (draft) => {
  const { random } = draft;
  const leaf = draft.leaf();
  const root = draft.tree([leaf.mode, "a", leaf.object]);
  const main = draft.commit(root);
  const every = 1 + random.below(50);
  let target = random.pick([main, root, draft.add(BLOB)]);
  let count = 0;
  for (; draft.hasRoom(); count++) {
    target = draft.add(makeTag(target, target.type, `t${count}`));
    if (count % every === 0) draft.ref(`tags/t${count}`, target);
  }
  draft.ref("tags/top", target);
  return draft.finish(`${count} tags of each other`, main, main);
};

/** Commits without parents that share files or whole trees. */
const orphans: Shape = (draft) => {
  const { random } = draft;
  const share = random.below(3);
  const shared: MadeTreeEntry[] = [];
  const files = 1 + random.below(1_000);
  for (let i = 0; i < files && draft.hasRoom(3_000); i++) {
    shared.push(["100644", nameOf(i), draft.add(makeObject("blob", `${i}\n`))]);
  }
  const common = draft.tree(...shared);
  let tip = draft.commit(common);
  const first = tip;
  let count = 1;
  // Its own flat tree is large, though it packs well. Sharing more than the limit is always
  // refused.
  for (; draft.hasRoom(1_000) && (count + 1) * (shared.length + 1) < MAX_REINTRODUCTIONS; count++) {
    const own = draft.add(makeObject("blob", `own ${count}\n`));
    const tree =
      share === 0
        ? draft.treeLike(common, [...shared, ["100644", "own", own]])
        : share === 1
          ? draft.tree(["40000", "common", common], ["100644", "own", own])
          : common;
    tip = draft.commit(tree, [], `${count}\n`);
    draft.ref(`heads/orphan-${count}`, tip);
  }
  const how = ["files", "a tree", "the root"][share];
  return draft.finish(`${count} orphans that share ${how} of ${shared.length}`, tip, first, { file: nameOf(0) });
};

/** Merges of merges, or of very many parents. */
const merges: Shape = (draft) => {
  const { random } = draft;
  const trees = Array.from({ length: 3 }, (_, i) => draft.tree(["100644", `f${i}`, draft.add(BLOB)]));
  let row = Array.from({ length: 2 + random.below(40) }, (_, i) => draft.commit(random.pick(trees), [], `root ${i}\n`));
  let count = row.length;
  const cost = 200 + row.length * 30;
  for (; draft.hasRoom(3_000 + cost * row.length);) {
    const before = row;
    row = before.map((_, i) => draft.commit(random.pick(trees), random.shuffled(before), `${count} ${i}\n`));
    count += row.length;
  }
  const many: MadeObject[] = [];
  while (draft.hasRoom(2_500 + 60 * many.length)) many.push(draft.commit(random.pick(trees), [], `${many.length}\n`));
  const main = draft.commit(trees[0]!, [...row, ...many]);
  const fork = draft.commit(trees[1]!, row.toReversed());
  return draft.finish(`${count} merges, and one of ${many.length + row.length}`, main, fork, { file: "f0" });
};

/** A line of commits that reverts everything again and again. */
const reverts: Shape = (draft) => {
  const { random } = draft;
  const states = 1 + random.below(5);
  const files = 1 + random.below(200);
  const trees = Array.from({ length: states }, (_, s) =>
    draft.tree(
      ...Array.from({ length: files }, (_, i) => {
        const blob = draft.add(makeObject("blob", `${s % (1 + (i % states))} ${i % 7}\n`));
        return ["100644", nameOf(i), blob] as const;
      }),
    ),
  );
  let tip = draft.commit(trees[0]!);
  const first = tip;
  let count = 1;
  for (; draft.hasRoom(); count++) tip = draft.commit(trees[count % states]!, [tip]);
  const fork = draft.commit(trees.at(-1)!, [first]);
  return draft.finish(`${count} commits with ${states} states of ${files} files`, tip, fork, { file: nameOf(0) });
};

/** Submodules that are commits of this same history, some of them descendants of their own
 * commit. */
const gitlinks: Shape = (draft) => {
  const { random } = draft;
  const modules = draft.add(
    makeObject("blob", '[submodule "own"]\n\tpath = own\n\turl = https://example.com/own.git\n'),
  );
  let tip = draft.commit(draft.tree(["100644", ".gitmodules", modules]));
  const all = [tip];
  for (; draft.hasRoom(800);) {
    const links = Array.from(
      { length: 1 + random.below(5) },
      (_, i) => ["160000", nameOf(i), random.pick(all)] as const,
    );
    const inner = draft.tree(...links);
    const root = draft.tree(["100644", ".gitmodules", modules], ["160000", "own", tip], ["40000", "sub", inner]);
    tip = draft.commit(root, random.below(3) === 0 ? [] : [random.pick(all)], `${all.length}\n`);
    all.push(tip);
  }
  return draft.finish(`${all.length} commits that are each other's submodules`, tip, random.pick(all), {
    directory: "sub",
    file: "own",
  });
};

/** Long delta chains, of blobs that grow from almost nothing. */
const deltas: Shape = (draft) => {
  const { random } = draft;
  const block = 1_000 + random.below(60_000);
  const copies = 1 + random.below(200);
  let blob = draft.add(makeObject("blob", Buffer.alloc(block, "line of text\n")));
  let size = block;
  const entries: MadeTreeEntry[] = [];
  for (let i = 0; draft.hasRoom(2_000 + copies * 8) && i < 3_000; i++) {
    const salt = Buffer.from(`${i}\n`);
    // The first one expands a lot; the others change little.
    const count = i === 0 ? copies : 0;
    const parts =
      count > 0 ? Array<Buffer>(count).fill(blob.content) : [blob.content.subarray(0, Math.min(size, 65_536))];
    const content = Buffer.concat([...parts, salt]);
    const copied = count > 0 ? parts.map(() => copy(0, size)) : [copy(0, parts[0]!.length)];
    const delta = encodeDelta(size, content.length, ...copied, insert(salt));
    blob = draft.add(makeObject("blob", content), { base: blob, bytes: delta });
    size = content.length;
    entries.push(["100644", nameOf(i), blob]);
  }
  const base = draft.commit(draft.tree(...entries.slice(0, 1)));
  const main = draft.commit(draft.tree(...entries), [base]);
  const fork = draft.commit(draft.tree(...entries.slice(-1)), [base]);
  return draft.finish(`${entries.length} deltas on each other`, main, fork, { file: nameOf(0) });
};

/** Two states of many similar files, all moved. */
const renames: Shape = (draft) => {
  const { random } = draft;
  const length = 1 + random.below(100);
  const before: MadeTreeEntry[] = [];
  const after: MadeTreeEntry[] = [];
  const aside: MadeTreeEntry[] = [];
  for (let i = 0; draft.hasRoom(3_000 + 200 * before.length ** 0.5); i++) {
    const text = Array.from({ length }, (_, line) => `line ${(line * (i % 7)) % 13}\n`).join("");
    before.push(["100644", `old${nameOf(i)}`, draft.add(makeObject("blob", `${text}${i}\n`))]);
    after.push(["100644", `new${nameOf(i)}`, draft.add(makeObject("blob", `${text}${i} new\n`))]);
    aside.push(["100644", `old${nameOf(i)}`, before.at(-1)![2]]);
  }
  const base = draft.commit(draft.tree(["40000", "d", draft.tree(...before)]));
  const main = draft.commit(draft.tree(["40000", "e", draft.tree(...after)]), [base]);
  const fork = draft.commit(draft.tree(["40000", "f", draft.tree(...aside)]), [base]);
  return draft.finish(`${before.length} files that were all moved`, main, fork, {
    directory: "e",
    file: `e/new${nameOf(0)}`,
  });
};

/** Texts that are hard to compare: few different lines in many orders. */
const texts: Shape = (draft) => {
  const { random } = draft;
  const kinds = 2 + random.below(50);
  const lines = 100 + random.below(100_000);
  const text = (): MadeObject => {
    const content = Array.from({ length: lines }, () => `${random.below(kinds)}\n`).join("");
    return makeObject("blob", content.slice(0, 60_000));
  };
  const state = (): MadeObject => draft.tree(["100644", "text", draft.add(text())]);
  const base = draft.commit(state());
  let main = draft.commit(state(), [base]);
  const fork = draft.commit(state(), [base]);
  while (draft.hasRoom(62_000)) main = draft.commit(state(), [main]);
  return draft.finish(`texts of ${kinds} kinds of lines`, main, fork, { file: "text" });
};

/** Attributes, a mailmap and ignore rules that take long to parse. */
const rules: Shape = (draft) => {
  const { random } = draft;
  const pattern = random.pick(["*a*a*a*b", "**/".repeat(20), "[a-z]*".repeat(10), "a?".repeat(30)]);
  const count = 1 + random.below(4_000);
  const attributes = draft.add(makeObject("blob", `${pattern} export-ignore\n`.repeat(count).slice(0, 60_000)));
  const mailmap = draft.add(
    makeObject("blob", Array.from({ length: count }, (_, i) => `A <a@${i}> <ada@example.com>\n`).join("")),
  );
  const inner = draft.tree(
    ...Array.from({ length: 500 }, (_, i) => ["100644", `${"a".repeat(60)}${nameOf(i)}`, draft.add(BLOB)] as const),
  );
  let tree = inner;
  while (draft.hasRoom(3_000)) tree = draft.tree(["100644", ".gitattributes", attributes], ["40000", "a", tree]);
  const root = draft.tree(
    ["100644", ".gitattributes", attributes],
    ["100644", ".mailmap", mailmap],
    ["40000", "a", tree],
  );
  const main = draft.commit(root);
  return draft.finish(`${count} rules of ${pattern.slice(0, 12)}`, main, draft.commit(tree, [main]), {
    directory: "a",
    file: ".mailmap",
  });
};

/** More refs than commits. */
const refs: Shape = (draft) => {
  const { random } = draft;
  const tree = draft.tree(["100644", "a", draft.add(BLOB)]);
  let tip = draft.commit(tree);
  const first = tip;
  const each = 1 + random.below(20);
  let count = 0;
  for (; draft.hasRoom();) {
    tip = draft.commit(tree, [tip], `${count}\n`);
    for (let i = 0; i < each && count < 5_000; i++)
      draft.ref(random.pick(["heads", "tags", "notes"]) + `/r/${count++}`, tip);
  }
  return draft.finish(`${count} refs`, tip, first);
};

/** Criss-cross merges with many best common ancestors. */
const crosses: Shape = (draft) => {
  const { random } = draft;
  const trees = Array.from({ length: 4 }, (_, i) =>
    draft.tree(["100644", "f", draft.add(makeObject("blob", `${i}\n`))]),
  );
  let pair = [draft.commit(trees[0]!, [], "one\n"), draft.commit(trees[1]!, [], "other\n")] as const;
  let count = 2;
  for (; draft.hasRoom(800); count += 2) {
    const [one, other] = pair;
    pair = [
      draft.commit(random.pick(trees), [one, other], `${count}\n`),
      draft.commit(random.pick(trees), [other, one], `${count}\n`),
    ];
  }
  return draft.finish(`${count} commits criss-cross`, pair[0], pair[1], { file: "f" });
};

const SHAPES: readonly Shape[] = [
  bomb,
  deep,
  wide,
  tags,
  orphans,
  merges,
  reverts,
  gitlinks,
  deltas,
  renames,
  texts,
  rules,
  refs,
  crosses,
];
