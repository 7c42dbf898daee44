/** Histories with directories that are very wide, or whose names are very long. Their packs are
 * small. */
import { BLOB, Draft, type HostileHistory } from "./hostile-draft.ts";
import { type MadeObject, makeObject, makeWideTree } from "./pack-builder.ts";
import { Random } from "./random.ts";

/** A directory of very many files, of which each branch changes one. */
export function wideBomb(count: number): HostileHistory {
  return pathBomb(`${count} files in a directory`, (i) => String(i).padStart(7, "0"), count);
}

/** A directory of files with names of 4 KB. */
export function longNamesBomb(count: number): HostileHistory {
  return pathBomb(`${count} names of 4 KB`, (i) => String(i).padStart(4_080, "0"), count);
}

/** Directories that all repeat one whose files have names of 4 KB. */
export function repeatedNamesBomb(directories: number, count: number): HostileHistory {
  const history = `${directories} times ${count} names of 4 KB`;
  return pathBomb(history, (i) => String(i).padStart(4_000, "0"), count, directories);
}

/** A directory of very many files below a path of 3,600 bytes. */
export function deepWideBomb(count: number): HostileHistory {
  return pathBomb(`${count} files below a long path`, (i) => String(i).padStart(7, "0"), count, 1, 36);
}

function pathBomb(
  shape: string,
  nameOf: (i: number) => string,
  count: number,
  directories = 1,
  levels = 0,
): HostileHistory {
  const draft = new Draft(new Random(1), Infinity);
  const [left, right] = ["left\n", "right\n"].map((text) => draft.add(makeObject("blob", text))) as [
    MadeObject,
    MadeObject,
  ];
  draft.add(BLOB);
  const level = "l".repeat(100);
  /** @param edited by the index of the file */
  const makeRoot = (edited: ReadonlyMap<number, MadeObject>): MadeObject => {
    const files = Array.from({ length: count }, (_, i) => ["100644", nameOf(i), edited.get(i) ?? BLOB] as const);
    let wide = draft.add(makeWideTree(files));
    for (let i = 0; i < levels; i++) wide = draft.tree(["40000", level, wide]);
    return draft.tree(
      ...Array.from({ length: directories }, (_, i) => ["40000", `d${String(i).padStart(4, "0")}`, wide] as const),
      ["100644", "text", edited.size === 0 ? BLOB : left],
    );
  };
  const first = draft.commit(makeRoot(new Map()));
  const main = draft.commit(makeRoot(new Map([[1, left]])), [first]);
  const fork = draft.commit(makeRoot(new Map([[count - 2, right]])), [first]);
  const directory = ["d0000", ...Array.from({ length: levels }, () => level)].join("/");
  return { ...draft.finish(shape, main, fork, { directory, file: `${directory}/${nameOf(1)}` }), isBomb: true };
}
