/** What the API says of the files of a tree: `/languages`, `/stats`. */
import * as linguist from "linguist-languages";
import { defineApiCheck } from "./served-history.ts";

interface Sum {
  readonly files: number;
  readonly bytes: number;
}

interface Languages extends Sum {
  readonly languages: readonly (Sum & { readonly name: string })[];
  readonly other: Sum;
}

const LANGUAGES = Object.values(linguist) as linguist.Language[];

export default defineApiCheck(
  `A case is a random commit: files and bytes beside the sums of git ls-tree -r -l: those of all files, and of each language. Where several
languages claim an extension, the one that is told must be of them.`,
  async (history) => {
    const commit = history.pickCommit();
    const { languages, other, ...total } = await history.get<Languages>(`/languages?ref=${commit}`);
    const stats = await history.get<Sum>(`/stats?ref=${commit}`);
    const files = await history.listFiles(commit);
    const all = print(add(files.map(({ bytes }) => ({ files: 1, bytes }))));
    // Languages that claim one file together are compared as one.
    const groups = joinGroups(files.map(({ path }) => claimantsOf(path)));
    const groupOf = (name: string | undefined): string =>
      name === undefined ? "no language" : (groups.get(name) ?? name);
    const expected = Map.groupBy(files, ({ path }) => groupOf(claimantsOf(path)[0]));
    const actual = Map.groupBy(languages, ({ name }) => groupOf(name));
    if (other.files > 0) actual.set(groupOf(undefined), [{ name: "", ...other }]);
    return [
      [`files of ${commit}`, print(total), all],
      [`files in stats of ${commit}`, print(stats), all],
      [
        `languages of ${commit}`,
        list(actual),
        list(new Map([...expected].map(([name, some]) => [name, some.map(({ bytes }) => ({ files: 1, bytes }))]))),
      ],
    ];
  },
);

const add = (sums: readonly Sum[]): Sum => ({
  files: sums.reduce((files, one) => files + one.files, 0),
  bytes: sums.reduce((bytes, one) => bytes + one.bytes, 0),
});

const print = ({ files, bytes }: Sum): string => `${files} files, ${bytes} bytes`;

const list = (sums: ReadonlyMap<string, readonly Sum[]>): string =>
  [...sums]
    .map(([name, some]) => `${name}: ${print(add(some))}`)
    .toSorted()
    .join("\n");

/** What `claimantsOf` found, by the last part of the path. */
const known = new Map<string, readonly string[]>();

/** Which languages claim a file by its name, or else by the longest of its extensions that any does. */
function claimantsOf(path: string): readonly string[] {
  const name = path.split("/").at(-1)!;
  let found = known.get(name);
  if (found === undefined) {
    const byName = LANGUAGES.filter(({ filenames = [] }) => filenames.includes(name));
    const endings = name
      .toLowerCase()
      .split(".")
      .map((_, i, parts) => `.${parts.slice(i).join(".")}`)
      .slice(1);
    const byEnding = endings
      .map((ending) =>
        LANGUAGES.filter(({ extensions = [] }) => extensions.some((one) => one.toLowerCase() === ending)),
      )
      .find(({ length }) => length > 0);
    known.set(name, (found = (byName.length > 0 ? byName : (byEnding ?? [])).map((one) => one.name)));
  }
  return found;
}

/** A name for all languages that share files, by each of them. */
function joinGroups(groups: readonly (readonly string[])[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [first, ...others] of groups) {
    if (first === undefined) continue;
    const joined = names.get(first) ?? first;
    names.set(first, joined);
    for (const other of others) {
      const before = names.get(other) ?? other;
      names.set(other, joined);
      for (const [name, group] of names) if (group === before) names.set(name, joined);
    }
  }
  return names;
}
