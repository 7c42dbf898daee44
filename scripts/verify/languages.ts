/** Checks what the API says of the files of a tree: `/languages`, `/stats`. */
import * as linguist from "linguist-languages";
import { git } from "../../test/harness/git.ts";
import { type SampledHistory, verifySamples } from "./sampled-history.ts";

interface Sum {
  readonly files: number;
  readonly bytes: number;
}

interface Languages extends Sum {
  readonly languages: readonly (Sum & { name: string })[];
  readonly other: Sum;
}

/** Which languages claim a name, or else the longest of its extensions that any does. */
function claimants(name: string): string[] {
  const all = Object.values(linguist) as linguist.Language[];
  const byName = all.filter(({ filenames = [] }) => filenames.includes(name));
  if (byName.length > 0) return byName.map((one) => one.name);
  const parts = name.toLowerCase().split(".").slice(1);
  for (let i = 0; i < parts.length; i++) {
    const extension = `.${parts.slice(i).join(".")}`;
    const found = all.filter(({ extensions = [] }) => extensions.some((one) => one.toLowerCase() === extension));
    if (found.length > 0) return found.map((one) => one.name);
  }
  return [];
}

/** The claimants of each ending (name without what is before its first dot, if any). */
const known = new Map<string, string[]>();

function claimantsOf(name: string): string[] {
  let found = known.get(name);
  if (found === undefined) known.set(name, (found = claimants(name)));
  return found;
}

/** Names and sizes of the files of a tree. */
async function listFiles({ dir }: SampledHistory, commit: string): Promise<{ name: string; bytes: number }[]> {
  const lines = (await git(dir, "ls-tree", "-r", "-l", "-z", commit))
    .split("\0")
    .filter((line) => line.startsWith("100"));
  return lines.map((line) => {
    const [, bytes, name] = /^\d+ blob [0-9a-f]+ +(\d+)\t(?:.*\/)?([^/]+)$/s.exec(line)!;
    return { name: name!, bytes: Number(bytes) };
  });
}

function sum(files: readonly { bytes: number }[]): string {
  return `${files.length} files, ${files.reduce((bytes, file) => bytes + file.bytes, 0)} bytes`;
}

function print({ files, bytes }: Sum): string {
  return `${files} files, ${bytes} bytes`;
}

await verifySamples(
  "languages",
  `Compares files and bytes with the sums of git ls-tree -r -l: those of all files, and of each language. Where several languages claim
an extension, their sums are compared together.`,
  async (history, commit) => {
    const { languages, other, ...total } = await history.ask<Languages>(`/languages?ref=${commit}`);
    const stats = await history.ask<Sum>(`/stats?ref=${commit}`);
    const files = await listFiles(history, commit);
    const groups = Map.groupBy(files, ({ name }) => claimantsOf(name).toSorted().join(" or "));
    // Languages that are in one group with others are compared as one.
    const joined = joinGroups([...groups.keys()].map((group) => group.split(" or ")));
    const nameOf = (names: readonly string[]): string => joined.get(names[0]!) ?? "";
    const expected = Map.groupBy(files, ({ name }) => nameOf(claimantsOf(name)));
    const actual = Map.groupBy(languages, ({ name }) => joined.get(name) ?? `${name}, which no file is of`);
    const add = (sums: readonly Sum[]): Sum => ({
      files: sums.reduce((files, one) => files + one.files, 0),
      bytes: sums.reduce((bytes, one) => bytes + one.bytes, 0),
    });
    const lines = [...actual].map(([name, sums]) => `${name}: ${print(add(sums))}`);
    if (other.files > 0) lines.push(`: ${print(other)}`);
    return [
      { what: "files", actual: print(total), expected: sum(files) },
      { what: "files in stats", actual: print(stats), expected: sum(files) },
      {
        what: "languages",
        actual: lines.toSorted().join("\n"),
        expected: [...expected]
          .map(([name, members]) => `${name}: ${sum(members)}`)
          .toSorted()
          .join("\n"),
      },
    ];
  },
);

/** A name for each set of languages that share a file, by each of them. */
function joinGroups(groups: readonly (readonly string[])[]): Map<string, string> {
  const roots = new Map<string, string>();
  const find = (name: string): string => {
    const root = roots.get(name) ?? name;
    return root === name ? name : find(root);
  };
  for (const [first, ...rest] of groups) {
    if (first === undefined || first === "") continue;
    roots.set(first, find(first));
    for (const name of rest) roots.set(find(name), find(first));
    for (const name of rest) if (!roots.has(name)) roots.set(name, find(first));
  }
  return new Map([...roots.keys()].map((name) => [name, find(name)]));
}
