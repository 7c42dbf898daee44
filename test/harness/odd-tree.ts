import { makeRepository, tryGit } from "./git.ts";

/** The content of a path: text or bytes, with a mode if it is not a regular file. */
export type OddFile =
  | string
  | Uint8Array
  | { readonly mode: "100755" | "120000"; readonly content: string }
  | { readonly gitlink: string };

/** One commit of a generated repository; odd paths are quoted as git does. */
export interface OddCommit {
  readonly branch: string;
  readonly files: Readonly<Record<string, OddFile | null>>;
}

/** Creates a bare repository whose commits change the given files, in order; null removes a file.
 * Branches continue from `main`.
 * @returns its path
 * @see git-fast-import(1) */
export async function makeOddRepository(commits: readonly OddCommit[]): Promise<string> {
  const dir = await makeRepository("odd.git", "--bare");
  const parts: (string | Uint8Array)[] = [];
  const tips = new Map<string, number>();
  commits.forEach(({ branch, files }, i) => {
    const from = tips.get(branch) ?? tips.get("main");
    tips.set(branch, i + 1);
    parts.push(
      `commit refs/heads/${branch}\nmark :${i + 1}\ncommitter Ada Example <ada@example.com> ${1_700_000_000 + i * 60} +0100\n`,
      `data 9\nCommit ${i % 10}\n\n`,
      from === undefined ? "" : `from :${from}\n`,
    );
    for (const [path, file] of Object.entries(files)) {
      if (file === null) parts.push(`D ${path}\n`);
      else if (typeof file === "object" && "gitlink" in file) parts.push(`M 160000 ${file.gitlink} ${path}\n`);
      else {
        const isPlain = typeof file === "string" || file instanceof Uint8Array;
        const content = Buffer.from(isPlain ? file : file.content);
        parts.push(`M ${isPlain ? "100644" : file.mode} inline ${path}\ndata ${content.length}\n`, content, "\n");
      }
    }
  });
  const stdin = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin });
  if (code !== 0) throw new Error(`git fast-import ended with ${code}:\n${stderr}`);
  return dir;
}
