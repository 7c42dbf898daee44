/** Histories by many authors, and git's figures for them. */
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import type { PushedRepository } from "../pushing.ts";
import { ANYONE } from "../../harness/requester.ts";
import { newClient, type RepositoryClient } from "../../../src/contract/calls.ts";

/** A commit to be made. */
export interface Draft {
  /** Byte strings: "Name <email>", and "seconds zone". */
  readonly author: string;
  readonly date: string;
  readonly encoding?: string;
  /** Marks, from 1 in order. */
  readonly parents?: readonly number[];
  /** Lines of `git fast-import`: changes of files. */
  readonly changes?: string;
}

/** Makes a bare repository whose main is the last commit. */
export async function importHistory(drafts: readonly Draft[]): Promise<string> {
  const dir = await makeRepository("history", "--bare", "-q");
  await appendHistory(dir, drafts, "refs/heads/main");
  return dir;
}

/** Adds commits to a bare repository; the first has no parents unless it names some. */
export async function appendHistory(dir: string, drafts: readonly Draft[], ref: string, from = ""): Promise<void> {
  const commits = drafts.map(({ author, date, encoding, parents, changes = "" }, i) => {
    const [first, ...rest] = parents?.map((mark) => `:${mark}`) ?? [i === 0 ? from : `:${i}`];
    const lines = [
      `commit ${ref}`,
      `mark :${i + 1}`,
      `author ${author} ${date}`,
      `committer C <c@x> ${1_700_000_000 + i} +0000`,
    ];
    if (encoding !== undefined) lines.push(`encoding ${encoding}`);
    lines.push("data 0");
    if (first !== undefined && first !== "") lines.push(`from ${first}`);
    lines.push(...rest.map((parent) => `merge ${parent}`));
    return `${lines.join("\n")}\n${changes}\n`;
  });
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet", "--force", "--date-format=raw-permissive"], {
    stdin: Buffer.from(commits.join(""), "latin1"),
  });
  if (code !== 0) throw new Error(stderr);
}

/** The lines of `git fast-import` that put a file. */
export function putFile(path: string, content: string, mode = "100644"): string {
  return `M ${mode} inline ${path}\ndata ${content.length}\n${content}\n`;
}

/** What `git shortlog -sne` prints, as text. */
export function listByGit(dir: string, commit: string): Promise<string> {
  return git(dir, "shortlog", "-sne", commit);
}

/** The contributors in the format of `git shortlog -sne`. */
export async function listContributors(client: RepositoryClient, ref: string): Promise<string> {
  const { contributors } = await client.contributors({ ref, from: 0, limit: 10_000 });
  return contributors
    .map(({ name, email, commits }) => `${String(commits).padStart(6)}\t${name} <${email}>`)
    .join("\n");
}

/** The calls of a repository. */
export function clientOf({ repository }: PushedRepository): RepositoryClient {
  return newClient<RepositoryClient>((name, argument) => repository.call(name, argument, ANYONE));
}
