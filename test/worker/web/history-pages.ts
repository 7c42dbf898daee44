/** The pages about history: rows of the table in `pages.ts`, and the repository that they show. */
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import type { WalkedPage } from "./walked-page.ts";

/** Pages of a repository made by `makeHistoryRepository`, at `walk/history`. */
export const HISTORY_PAGES: readonly WalkedPage[] = [
  { name: "commits", path: "/walk/history/commits/main", says: "Merge the side" },
  { name: "commits of the default branch", path: "/walk/history/commits", says: "November 16, 2023" },
  { name: "commits of a commit", path: "/walk/repo/commits/:head", says: "Go deeper" },
  { name: "commits, hostile", path: "/walk/history/commits/hostile", says: "[U+202E]" },
  { name: "commits of a path", path: "/walk/history/commits/main/src", says: "Move, change, add and delete" },
  {
    name: "commits of a file, followed",
    path: "/walk/history/commits/main/src/moved.ts?follow=1",
    says: "as src/old.ts",
  },
  {
    name: "commits, filtered",
    path: "/walk/history/commits/main?text=THE+SIDE&author=ada&since=2020-01-01&until=2099-01-01",
    says: "Merge the side",
  },
  { name: "commits, none", path: "/walk/history/commits/main?author=nobody+like+this", says: "No commit fits" },
  { name: "commits, a wrong day", path: "/walk/history/commits/main?since=soon", status: 422, says: "such as 2026" },
  { name: "commits, a wrong cursor", path: "/walk/history/commits/main?after=AAAA", status: 422, says: "cursor" },
  { name: "commit", path: "/walk/history/commit/changes", says: "with an example" },
  { name: "commit with notes", path: "/walk/history/commit/side", says: /Notes\s+Seen on the side/ },
  { name: "commit, side by side", path: "/walk/history/commit/changes?view=split", says: "and & here" },
  { name: "commit, without blanks", path: "/walk/history/commit/changes?w=1", says: "Only blanks changed" },
  { name: "commit, one file", path: "/walk/history/commit/changes?file=2", says: "File 3 of 8" },
  { name: "commit, no such file", path: "/walk/history/commit/changes?file=99", status: 404, says: "Not found" },
  { name: "commit, further files", path: "/walk/history/commit/changes?start=5", says: "Files 6 to 8 of 8" },
  { name: "commit, a long file", path: "/walk/history/commit/long", says: "first 1000 lines" },
  { name: "commit, a root", path: "/walk/history/commit/v1.0", says: "added" },
  { name: "commit, a merge", path: "/walk/history/commit/main", says: "compared below" },
  { name: "commit, a merge, its other parent", path: "/walk/history/commit/main?parent=2", says: "renamed" },
  { name: "commit, no such parent", path: "/walk/history/commit/main?parent=3", status: 422, says: "Not valid" },
  { name: "commit, hostile", path: "/walk/history/commit/hostile", says: "new␊line" },
  { name: "compare, to choose", path: "/walk/history/compare", says: "Compare with it" },
  { name: "compare", path: "/walk/history/compare/v1.0...main", says: "is 3 commits ahead of v1.0" },
  { name: "compare, to merge", path: "/walk/history/compare/main...hostile", says: "Merge into main" },
  { name: "compare, directly", path: "/walk/history/compare/main..v1.0?view=split", says: "3 commits behind" },
  { name: "compare, one file", path: "/walk/history/compare/v1.0...main?file=1", says: "File 2 of 9" },
  { name: "compare, the same", path: "/walk/history/compare/main...main", says: "the same commit" },
  { name: "compare, nothing there", path: "/walk/history/compare/main...nothing", status: 404, says: "Not found" },
  { name: "branches", path: "/walk/history/branches", says: "1 ahead, 0 behind" },
  { name: "branches, none", path: "/walk/empty/branches", says: "There are none yet" },
  { name: "branches, past the end", path: "/walk/history/branches?start=100", says: "Newest" },
  { name: "tags", path: "/walk/history/tags", says: "With notes." },
  { name: "a tag", path: "/walk/history/tag/v1.0", says: "With notes." },
  { name: "tags, none", path: "/walk/empty/tags", says: "There are none" },
  { name: "activity", path: "/walk/history/activity", says: "By week" },
  { name: "activity, none", path: "/walk/empty/activity", says: "no commits yet" },
  { name: "contributors", path: "/walk/history/contributors", says: "Ada Example" },
  { name: "contributors, none", path: "/walk/empty/contributors", says: "no commits yet" },
];

const lines = (count: number, change: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: count }, (_, i) => `${change[i + 1] ?? `line ${i + 1} of the file`}\n`).join("");

/** Makes the repository that the pages of history show. Tags name its commits.
 * @returns its directory */
export async function makeHistoryRepository(): Promise<string> {
  const dir = await makeRepository("history");
  const write = (path: string, content: string | Uint8Array): void => writeFileSync(join(dir, path), content);
  let seconds = 1_700_000_000;
  const commit = async (message: string, ...args: string[]): Promise<void> => {
    const date = `${(seconds += 40_000)} +0100`;
    await git(dir, "add", "-A");
    const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const { code, stderr } = await tryGit(dir, ["commit", "-q", "--allow-empty", "-m", message, ...args], { env });
    if (code !== 0) throw new Error(stderr);
  };
  mkdirSync(join(dir, "src"));
  write("src/old.ts", lines(60));
  write("src/gone.txt", "to be deleted\n");
  write("script.sh", "#!/bin/sh\n");
  write("picture.svg", `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4"/></svg>\n`);
  write("bytes", Uint8Array.of(1, 0, 2));
  write("spaces.txt", "a\nb\n\tc\n");
  write("long.txt", lines(30));
  await commit("First");
  await git(dir, "tag", "-a", "v1.0", "-m", "The first release\n\nWith notes.");
  await git(dir, "checkout", "-q", "-b", "side");
  write("side.txt", "on the side\n");
  await commit("Go to the side");
  await git(dir, "notes", "add", "-m", "Seen on the side");
  await git(dir, "checkout", "-q", "main");
  renameSync(join(dir, "src/old.ts"), join(dir, "src/moved.ts"));
  write("src/moved.ts", lines(60, { 5: "changed <b>here</b>", 40: "and & here", 41: "and \u202e there" }));
  rmSync(join(dir, "src/gone.txt"));
  chmodSync(join(dir, "script.sh"), 0o755);
  write("picture.svg", `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3"/></svg>\n`);
  write("bytes", Uint8Array.of(1, 0, 3));
  write("src/added.ts", "no newline at the end");
  write("spaces.txt", "a  \n b\r\n    c\n");
  write("long.txt", "");
  await commit("Move, change, add and delete\n\nThe body says why:\n\n    with an example\n");
  await git(dir, "tag", "changes");
  const env = { GIT_COMMITTER_DATE: `${(seconds += 40_000)} +0100` };
  await tryGit(dir, ["merge", "-q", "--no-ff", "-m", "Merge the side", "side"], { env });
  await git(dir, "checkout", "-q", "--detach");
  write("long.txt", lines(1_010));
  await commit("Make a file long");
  await git(dir, "tag", "long");
  await git(dir, "checkout", "-q", "-b", "hostile", "main");
  mkdirSync(join(dir, "<b>", "\u05e9\u05dc\u05d5\u05dd \u202e"), { recursive: true });
  write(`<b>/\u05e9\u05dc\u05d5\u05dd \u202e/"new\nline'%`, `<script>document.title = "ran"</script>\n`);
  writeFileSync(Buffer.concat([Buffer.from(join(dir, "bytes ")), Buffer.from([0xff, 0xfe])]), "no UTF-8: \xff\n");
  await commit(`<script>document.title = "ran"</script> \u202e & "quotes" \u0007`);
  await git(dir, "branch", `odd/<b>&'"\u05e9`);
  await git(dir, "checkout", "-q", "main");
  return dir;
}
