/** Every page, in one table: the tests that walk all pages use it, so a further page is a row
 * here. */
import { git, makeRepository } from "../../harness/git.ts";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { HISTORY_PAGES } from "./history-pages.ts";
import type { WalkedPage } from "./walked-page.ts";

/** The pages of a repository made by `makeWalkedRepository`, at `walk/repo`; `walk/empty` is empty.
 * `walk` owns nothing else. */
export const PAGES: readonly WalkedPage[] = [
  { name: "start", path: "/", says: "Repositories" },
  { name: "start, nothing to see", path: "/?q=walk%2F", isLocked: true, says: "No name contains this" },
  { name: "sign in", path: "/-/sign-in?to=%2Fwalk", isLocked: true, says: "Token" },
  { name: "sign in, to see a page", path: "/walk/hidden", isLocked: true, status: 404, says: "Sign in" },
  { name: "start, filtered", path: "/?q=lk%2Fem", says: "walk / empty" },
  { name: "start, nothing found", path: "/?q=nothing-like-this", says: "No name contains this" },
  { name: "owner", path: "/walk", says: "walk / repo" },
  { name: "new repository", path: "/-/new", says: "Who may read it" },
  { name: "fork", path: "/walk/repo/fork", says: "A fork is a repository of its own" },
  { name: "repository", path: "/walk/repo", says: /A walked repository[^]*1 fork\s+walk\/fork/ },
  { name: "repository that is a fork", path: "/walk/fork", says: "Fork of walk/repo" },
  { name: "empty repository", path: "/walk/empty", says: "Nothing has been pushed yet" },
  { name: "directory", path: "/walk/repo/tree/main/src", says: "deep" },
  { name: "directory of a branch with a slash", path: "/walk/repo/tree/feature/one/src", says: "feature/one" },
  { name: "directory of a tag", path: "/walk/repo/tree/v1.0", says: "v1.0" },
  { name: "directory of a commit", path: "/walk/repo/tree/:head/src", says: "Commit" },
  { name: "directory, a wrong cursor", path: "/walk/repo/tree/main/src?after=AAAA", status: 422, says: "cursor" },
  { name: "file", path: "/walk/repo/blob/main/src/code.ts", says: "export const one" },
  { name: "file of a commit", path: "/walk/repo/blob/:head/src/code.ts", says: "export const one" },
  { name: "file in all colours of programs", path: "/walk/repo/blob/main/src/colours.rs", says: "println" },
  { name: "file in all colours of documents", path: "/walk/repo/blob/main/src/colours.html", says: "DOCTYPE" },
  { name: "file in all colours of changes", path: "/walk/repo/blob/main/src/colours.diff", says: "added" },
  { name: "file of long lines", path: "/walk/repo/blob/main/src/long.js", says: "Not all of it is in colours" },
  { name: "blame", path: "/walk/repo/blame/main/src/deep/file.txt", says: "Go deeper" },
  { name: "blame of a commit", path: "/walk/repo/blame/:head/src/code.ts", says: 'A first <commit> & "more"' },
  { name: "blame before a file was there", path: "/walk/repo/blame/v1.0/src/code.ts?before=1", says: "nothing before" },
  { name: "blame of a binary file", path: "/walk/repo/blame/main/binary", says: "A binary file has no lines" },
  { name: "blame of an empty file", path: "/walk/repo/blame/main/src/empty", says: "The file is empty" },
  { name: "blame of a directory", path: "/walk/repo/blame/main/src", status: 404, says: "Not found" },
  { name: "empty file", path: "/walk/repo/blob/main/src/empty", says: "0 lines" },
  { name: "Markdown", path: "/walk/repo/blob/main/README.md", says: "A walked repository" },
  { name: "Markdown, plain", path: "/walk/repo/blob/main/README.md?plain=1", says: "# A walked repository" },
  { name: "image", path: "/walk/repo/blob/main/pictures/dot.png", says: "Raw" },
  { name: "SVG", path: "/walk/repo/blob/main/pictures/drawing.svg", says: "Source" },
  { name: "SVG, plain", path: "/walk/repo/blob/main/pictures/drawing.svg?plain=1", says: "<script>" },
  { name: "binary file", path: "/walk/repo/blob/main/binary", says: "A binary file" },
  { name: "large file", path: "/walk/repo/blob/main/large.txt", says: "Too large" },
  { name: "symbolic link", path: "/walk/repo/blob/main/link", says: "symbolic link" },
  { name: "hidden characters", path: "/walk/repo/blob/main/hidden.txt", says: "[U+202E]" },
  { name: "names of any bytes", path: "/walk/repo/tree/main/odd", says: "new␊line" },
  { name: "a name of two lines", path: "/walk/repo/blob/main/odd/new%0Aline%25", says: "of two lines" },
  { name: "search", path: "/walk/repo/search", says: "Regular expression" },
  { name: "search, found", path: "/walk/repo/search?q=export&rev=main", says: /lines in .* more to search/ },
  { name: "search, regular", path: "/walk/repo/search?q=%5Edeep.r&regex=1&path=src/**", says: "src/deep/file.txt" },
  { name: "search, not valid", path: "/walk/repo/search?q=(&regex=1", status: 422, says: "not valid" },
  { name: "search, of nothing", path: "/walk/empty/search?q=a", status: 404, says: "no commit to search in" },
  { name: "find", path: "/walk/repo/find/main", says: "18 files" },
  { name: "find, found", path: "/walk/repo/find/feature/one?q=SRC+fil", says: "src/deep/file.txt" },
  { name: "settings", path: "/walk/repo/settings", says: "A former name keeps leading here" },
  { name: "protected refs", path: "/walk/repo/settings/protected", says: "Each rule binds everyone" },
  { name: "tokens", path: "/walk/repo/settings/tokens", says: "There are none" },
  { name: "webhooks", path: "/walk/repo/settings/webhooks", says: "A webhook is an address" },
  { name: "mirrors", path: "/walk/repo/settings/mirrors", says: "A mirror is a repository" },
  { name: "Git LFS", path: "/walk/repo/settings/lfs", says: "No file is locked" },
  { name: "push log", path: "/walk/repo/settings/pushes", says: "refs/heads/feature/one" },
  { name: "push log without a push", path: "/walk/empty/settings/pushes", says: "no push in the last 90 days" },
  { name: "maintenance", path: "/walk/repo/settings/maintenance", says: "Commits" },
  { name: "worktrees", path: "/walk/repo/settings/worktrees", says: "As the server does by itself" },
  { name: "deletion", path: "/walk/repo/settings/delete", says: "write walk/repo" },
  { name: "tokens of an owner", path: "/-/tokens/walk", says: "Tokens for everything of walk" },
  { name: "file to edit", path: "/walk/repo/edit/main/src/code.ts", says: /Lines keep their ends: LF/ },
  { name: "binary file to edit", path: "/walk/repo/edit/main/binary", says: "It is a binary file" },
  { name: "nothing to edit", path: "/walk/repo/edit/main/nothing", status: 404, says: "no file here" },
  { name: "tag to edit", path: "/walk/repo/edit/v1.0/README.md", status: 404, says: "Not found" },
  { name: "new file", path: "/walk/repo/new/feature/one/src", says: "To the branch feature/one" },
  { name: "first file", path: "/walk/empty/new/main", says: "New file" },
  { name: "upload", path: "/walk/repo/upload/main/src", says: "At most 200" },
  { name: "file to delete", path: "/walk/repo/delete/main/src/code.ts", says: "Delete src/code.ts" },
  { name: "directory to delete", path: "/walk/repo/delete/main/src", says: "and everything in it" },
  ...HISTORY_PAGES,
  { name: "missing path", path: "/walk/repo/blob/main/nothing", status: 404, says: "Not found" },
  { name: "missing revision", path: "/walk/repo/tree/nothing", status: 404, says: "Not found" },
  { name: "missing repository", path: "/walk/nothing", status: 404, says: "Not found" },
  { name: "missing owner", path: "/nobody-here", status: 404, says: "Not found" },
  { name: "no page", path: "/walk/repo/nothing/at/all", status: 404, says: "Not found" },
];

const README = `# A walked repository

Some **text**, \`code\`, a [link](src/code.ts), a [directory](src/), [itself](#usage), [another site](https://example.com/).

![a dot](pictures/dot.png) ![drawn](pictures/drawing.svg) ![elsewhere](https://example.com/badge.svg)

<p align="center"><img src="pictures/dot.png" width="20" onerror="alert(1)"></p>
<script>document.title = "ran"</script>
<a href="javascript:document.title='ran'">click</a>
<style>body { display: none }</style>
<form action="https://evil.example"><input name="q"></form>

#### Usage

- [ ] to do
- [x] done

| a | b |
|---|---|
| 1 | 2 |

> [!NOTE]
> Mind this.

\`\`\`ts
const a = 1;
\`\`\`
`;

/** An image of one pixel. */
const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

/** Makes the repository that the pages show.
 * @returns its directory and the id of its tip */
export async function makeWalkedRepository(): Promise<{ dir: string; head: string }> {
  const dir = await makeRepository("walked");
  for (const below of ["src/deep", "pictures", "odd"]) mkdirSync(join(dir, below), { recursive: true });
  const write = (path: string, content: string | Buffer): void => writeFileSync(join(dir, path), content);
  write("README.md", README);
  write("src/code.ts", 'export const one = 1;\nexport const two = "<b>&amp;</b>";\n'.repeat(50));
  write("src/colours.rs", `// one\n#[derive(Debug)]\nfn two(three: usize) {\n  println!("{}", 4 + u8::MAX);\n}\n`);
  write("src/colours.html", `<!DOCTYPE html>\n<!-- one -->\n<p class="two">three</p>\n`);
  write("src/colours.diff", "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-removed\n+added\n");
  write("src/long.js", `const one = 1;\nconst two = "${"x".repeat(10_000)}";\n`);
  write("src/empty", "");
  write("src/deep/file.txt", "deep\n");
  write("pictures/dot.png", DOT);
  write(
    "pictures/drawing.svg",
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><script>document.title = "ran"</script><circle cx="4" cy="4" r="4"/></svg>\n`,
  );
  write("binary", deflateSync("binary").subarray(2).toString("latin1") + "\0");
  write("large.txt", "a line of text\n".repeat(80_000));
  write("hidden.txt", "shown \u202e hidden \u0007\r\n");
  write("odd/new\nline%", "of two lines\n");
  write(`odd/"quoted" & <script>alert(1)<\u2215script>`, "marked up\n");
  write("odd/\u05e9\u05dc\u05d5\u05dd \u202e", "from the right\n");
  writeFileSync(Buffer.concat([Buffer.from(join(dir, "odd/bytes ")), Buffer.from([0xff, 0xfe])]), "no UTF-8\n");
  symlinkSync("src/code.ts", join(dir, "link"));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", 'A first <commit> & "more"\n\nWith a body.');
  await git(dir, "tag", "-a", "v1.0", "-m", "The first release");
  await git(dir, "branch", "feature/one");
  write("src/deep/file.txt", "deeper\n");
  await git(dir, "commit", "-q", "-a", "-m", "Go deeper");
  return { dir, head: await git(dir, "rev-parse", "HEAD") };
}
