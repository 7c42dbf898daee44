import { beforeAll, expect, test } from "vitest";
import { fromHex } from "../../../src/base/format/oid.ts";
import { NewObjects } from "../../../src/object/push/new-objects.ts";
import { mergeBases } from "../../../src/object/history/merge-base.ts";
import { mergeCommits } from "../../../src/object/merge/merge-commits.ts";
import { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { PushedRepository } from "../pushing.ts";
import { mergeByGit, outcomeOf } from "./merge-outcome.ts";
import { ANYONE } from "../../harness/requester.ts";

type Files = Map<string, { mode: string; content: string }>;

const DIRECTORIES = ["", "a/", "b/", "a/c/", "b/c/d/"];
const COMMITS = 60;
const MERGES = 60;

let dir: string;
let repository: OpenRepository;

/** Changes a tree as people do: edits lines, adds, deletes, renames files and directories, replaces
 * files by links and binary files. */
function edit(files: Files, random: Random): Files {
  const edited: Files = new Map(files);
  for (let times = 1 + random.below(4); times > 0; times--) {
    const path = random.pick([...edited.keys()]);
    const file = edited.get(path)!;
    const directory = random.pick(DIRECTORIES);
    const put = (at: string, next: { mode: string; content: string }): void => {
      for (const other of edited.keys()) {
        if (other === at || other.startsWith(`${at}/`) || at.startsWith(`${other}/`)) edited.delete(other);
      }
      edited.set(at, next);
    };
    switch (random.below(12)) {
      case 0:
        put(`${directory}new${random.below(4)}`, { mode: "100644", content: newText(random) });
        break;
      case 1:
        if (edited.size > 6) edited.delete(path);
        break;
      case 2:
      case 3:
        edited.delete(path);
        put(directory + (random.below(2) === 0 ? path.split("/").at(-1)! : `moved${random.below(4)}`), file);
        break;
      case 4: {
        const from = random.pick(DIRECTORIES.slice(1));
        for (const [at, moved] of new Map(edited)) {
          if (!at.startsWith(from)) continue;
          edited.delete(at);
          put(`${directory}moved/${at.slice(from.length)}`, moved);
        }
        break;
      }
      case 5:
        put(
          path,
          random.pick([
            { mode: "120000", content: "a/x" },
            { mode: "100755", content: file.content },
            { mode: "100644", content: `\0${random.below(3)}` },
          ]),
        );
        break;
      case 6:
        put(`${path}/inner`, { mode: "100644", content: newText(random) });
        break;
      default: {
        const lines = file.content.split("\n");
        lines[random.below(lines.length)] = `edited ${random.below(1_000)}`;
        put(path, { mode: file.mode === "120000" ? "100644" : file.mode, content: lines.join("\n") });
      }
    }
  }
  return edited;
}

function newText(random: Random): string {
  const name = random.below(1_000_000);
  return Array.from({ length: 4 + random.below(12) }, (_, i) => `line ${i} of ${name}\n`).join("");
}

/** A history whose branches merge each other many times. */
function writeHistory(random: Random): string {
  const trees: Files[] = [
    new Map(
      DIRECTORIES.flatMap((at) => [1, 2].map((n) => [`${at}file${n}`, { mode: "100644", content: newText(random) }])),
    ),
  ];
  const stream: string[] = [];
  for (let i = 0; i < COMMITS; i++) {
    // Two lines, of the even and of the odd commits, that merge each other's past.
    const first = Math.max(0, i - 2);
    const second = Math.max(0, i % 2 === 0 ? i - 1 : i - 3);
    if (i > 0) trees[i] = edit(trees[first]!, random);
    const parents =
      i === 0 ? "" : `from :${first + 1}\n${i > 3 && random.below(3) === 0 ? `merge :${second + 1}\n` : ""}`;
    const head = `commit refs/heads/c${i}\nmark :${i + 1}\ncommitter A <a@b> ${1_700_000_000 + 60 * i} +0000\ndata 0\n${parents}deleteall\n`;
    const entries = Array.from(
      trees[i]!,
      ([path, { mode, content }]) => `M ${mode} inline ${path}\ndata ${content.length}\n${content}\n`,
    );
    stream.push(`${head}${entries.join("")}\n`);
  }
  return stream.join("");
}

beforeAll(async () => {
  dir = await makeRepository("source");
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: writeHistory(new Random(3)) });
  if (code !== 0) throw new Error(stderr);
  const pushed = new PushedRepository();
  const refs = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  await pushed.pushFrom(dir, Object.fromEntries(refs.map((ref) => [ref, ref])));
  repository = new OpenRepository(pushed.repository.state, ANYONE, async () => undefined);
});

test("merges in a tangled history come out as git's, with several merge bases too", { tags: "sweep" }, async () => {
  const random = new Random(4);
  const { graph } = repository.tables;
  const seen = { clean: 0, conflicts: 0, manyBases: 0 };
  for (let i = 0; i < MERGES; i++) {
    const near = Math.floor(COMMITS / 4) + random.below((COMMITS * 3) / 4);
    const [ours, theirs] = [`c${near}`, `c${near - 1 - 2 * random.below(4)}`];
    const positions = await Promise.all(
      [ours, theirs].map(async (name) =>
        graph.position(repository.numberOf(fromHex(await git(dir, "rev-parse", name)))),
      ),
    );
    const made = new NewObjects(repository.state.platform.codec);
    const merged = await mergeCommits(repository, positions[0]!, positions[1]!, { ours, theirs }, made);
    expect([ours, theirs, outcomeOf(merged)]).toEqual([ours, theirs, await mergeByGit(dir, ours, theirs)]);
    if (merged.kind === "clean") seen.clean += 1;
    else seen.conflicts += 1;
    if (mergeBases(graph, positions[0]!, [positions[1]!]).length > 1) seen.manyBases += 1;
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(3);
});
