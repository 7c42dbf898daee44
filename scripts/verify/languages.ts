/** Compares the API's figures on a tree's files with git's: `/languages`, `/stats`. */
import { languageOf } from "../../src/repository/tally/language.ts";
import { defineApiCheck } from "./served-history.ts";

interface Sum {
  readonly files: number;
  readonly bytes: number;
}

interface Languages extends Sum {
  readonly languages: readonly (Sum & { readonly name: string })[];
  readonly other: Sum;
}

export default defineApiCheck(
  `A case is a random commit: files and bytes, in all and of each language, against the sums of git
ls-tree -r -l.`,
  async (history) => {
    const commit = history.pickCommit();
    const { languages, other, ...total } = await history.get<Languages>(`/languages?ref=${commit}`);
    const stats = await history.get<Sum>(`/stats?ref=${commit}`);
    const files = (await history.listFiles(commit)).map(({ path, bytes }) => {
      // The function takes names as bytes.
      const name = Buffer.from(path.split("/").at(-1)!).toString("latin1");
      return { name: languageOf(name)?.name ?? "other", files: 1, bytes };
    });
    const all = print(add(files));
    const told = [...languages, ...(other.files > 0 ? [{ name: "other", ...other }] : [])];
    return [
      [`files of ${commit}`, print(total), all],
      [`files in stats of ${commit}`, print(stats), all],
      [`languages of ${commit}`, list(told), list(files)],
    ];
  },
);

const add = (sums: readonly Sum[]): Sum => ({
  files: sums.reduce((files, one) => files + one.files, 0),
  bytes: sums.reduce((bytes, one) => bytes + one.bytes, 0),
});

const print = ({ files, bytes }: Sum): string => `${files} files, ${bytes} bytes`;

const list = (sums: readonly (Sum & { readonly name: string })[]): string =>
  [...Map.groupBy(sums, ({ name }) => name)]
    .map(([name, some]) => `${name}: ${print(add(some))}`)
    .toSorted()
    .join("\n");
