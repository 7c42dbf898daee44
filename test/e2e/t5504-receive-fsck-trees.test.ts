// Trees that git's fsck refuses, and odd ones that it accepts. @see git-fsck(1) "FSCK MESSAGES"
import {
  makeCommit,
  type MadeObject,
  makeObject,
  makeTree,
  type MadeTreeEntry,
  packOf,
} from "../harness/pack-builder.ts";
import { BASE, everyThird, type PushRow, type TablePush, testPushes } from "../harness/push-table.ts";
import { NULL_HEX } from "../harness/raw-push.ts";

type Row = Omit<PushRow, "answer">;

function pushTree(tree: MadeObject, objects: readonly MadeObject[]): TablePush {
  const commit = makeCommit(tree, [BASE.commit.oid]);
  return { pack: packOf(...objects, tree, commit), tip: commit.oid, objects: [...objects, commit] };
}

/** A tree with one blob of this name. */
function named(name: string | Uint8Array, id: string, git?: PushRow["git"]): Row {
  const shown = typeof name === "string" ? name : `bytes ${Buffer.from(name).toString("hex")}`;
  return withTree(`${id}: name ${JSON.stringify(shown.slice(0, 40))}`, id, (blob) => [["100644", name, blob]], git);
}

function withTree(
  name: string,
  id: string,
  entries: (blob: MadeObject) => readonly MadeTreeEntry[],
  git?: PushRow["git"],
): Row {
  return {
    name,
    push: ({ blob }) => pushTree(makeTree(...entries(blob)), [blob]),
    reason: new RegExp(id, "i"),
    ...(git === undefined ? {} : { git }),
  };
}

/** A tree of these bytes. @param make receives the well-formed tree of one blob */
function withBytes(name: string, make: (tree: Buffer) => Uint8Array): Row {
  return {
    name,
    push: ({ blob }) => pushTree(makeObject("tree", make(makeTree(["100644", "file", blob]).content)), [blob]),
  };
}

/** A tree with one file that git itself reads. */
function special(file: string, id: string, content: string): Row {
  return {
    name: `${id}: ${file} of ${JSON.stringify(content.slice(0, 60))}`,
    push: ({ blob }) => {
      const configuration = makeObject("blob", `${content}# ${blob.oid}\n`);
      return pushTree(makeTree(["100644", file, configuration]), [configuration]);
    },
    reason: new RegExp(id, "i"),
  };
}

function submodule(lines: string, section = "sub"): string {
  return `[submodule "${section}"]\n\tpath = sub\n\turl = https://example.com/sub.git\n${lines}`;
}

const refused: readonly Row[] = [
  named(".", "hasDot"),
  named("..", "hasDotdot"),
  named(".git", "hasDotgit"),
  named(".GIT", "hasDotgit"),
  named(".Git", "hasDotgit"),
  named(".g\u200cit", "hasDotgit"),
  named("\ufeff.git", "hasDotgit"),
  named(".gi\u206at", "hasDotgit"),
  named("git~1", "hasDotgit"),
  named("GIT~1", "hasDotgit"),
  named(".git ", "hasDotgit"),
  named(".git.", "hasDotgit"),
  named(".git . ..", "hasDotgit"),
  named(".git::$INDEX_ALLOCATION", "hasDotgit"),
  named(".git:stream", "hasDotgit"),
  named(".git\\config", "hasDotgit"),
  named("folder\\.git\\config", "hasDotgit"),
  named("folder/file", "fullPathname"),
  named("", "badTree"),
  named("n".repeat(5_000), "largePathname", "either"),
  withTree("duplicateEntries: the same file twice", "duplicateEntries", (blob) => [
    ["100644", "file", blob],
    ["100644", "file", blob],
  ]),
  {
    name: "duplicateEntries: a file and a directory of one name",
    push: ({ blob }) => {
      const inner = makeTree(["100644", "file", blob]);
      const tree = makeTree(["100644", "same", blob], ["100644", "same.c", blob], ["40000", "same", inner]);
      return pushTree(tree, [blob, inner]);
    },
    reason: /duplicateEntries/i,
  },
  withTree("treeNotSorted: by bytes", "treeNotSorted", (blob) => [
    ["100644", "b", blob],
    ["100644", "a", blob],
  ]),
  {
    name: "treeNotSorted: a directory sorts as if its name ended in a slash",
    push: ({ blob }) => {
      const inner = makeTree(["100644", "file", blob]);
      return pushTree(makeTree(["40000", "same", inner], ["100644", "same.c", blob]), [blob, inner]);
    },
    reason: /treeNotSorted/i,
  },
  withTree("mode with a digit that is not octal", "badTree", (blob) => [["100684", "file", blob]]),
  withTree("mode missing", "badTree", (blob) => [["", "file", blob]]),
  withTree("nullSha1: an entry without an object", "nullSha1", () => [["160000", "file", NULL_HEX]]),
  withBytes("cut in the last object id", (tree) => tree.subarray(0, -1)),
  withBytes("cut behind the mode", (tree) => tree.subarray(0, 7)),
  withBytes("no NUL at all", () => Buffer.from("100644 file")),
  withBytes("bytes behind the last entry", (tree) => Buffer.concat([tree, Buffer.from("100644")])),
  special(".gitmodules", "gitmodulesName", submodule("", "../outside")),
  special(".gitmodules", "gitmodulesUrl", '[submodule "sub"]\n\tpath = sub\n\turl = -u./payload\n'),
  special(".gitmodules", "gitmodulesPath", '[submodule "sub"]\n\tpath = -p\n\turl = https://example.com/sub.git\n'),
  special(".gitmodules", "gitmodulesUpdate", submodule("\tupdate = !touch here\n")),
  special(
    ".gitmodules",
    "gitmodulesUrl",
    '[submodule "sub"]\n\tpath = sub\n\turl = "https://example.com/%0ahost=other/sub.git"\n',
  ),
  special(".GITMODULES", "gitmodulesUpdate", submodule("\tupdate = !touch here\n")),
  withTree("gitmodulesSymlink: .gitmodules is a symbolic link", "gitmodulesSymlink", (blob) => [
    ["120000", ".gitmodules", blob],
  ]),
  {
    name: "gitmodulesBlob: .gitmodules is a directory",
    push: ({ blob }) => {
      const inner = makeTree(["100644", "file", blob]);
      return pushTree(makeTree(["40000", ".gitmodules", inner]), [blob, inner]);
    },
    reason: /gitmodulesBlob/i,
  },
  special(".gitattributes", "gitattributesLineLength", `${"a".repeat(2_100)} text\n`),
];

const accepted: readonly Row[] = [
  withTree("mode 100664, which git once wrote", "", (blob) => [["100664", "file", blob]], "either"),
  withTree("zero-padded mode, as old tools wrote it", "", (blob) => [["0100644", "file", blob]], "refuses"),
  named(Buffer.from([0xff, 0xfe, 0x80]), ""),
  named("two\nlines", ""),
  named(".gitx", ""),
  named("git~2", ""),
  {
    name: "an absolute symbolic link",
    push: ({ blob }) => {
      const link = makeObject("blob", `/outside/${blob.oid}`);
      return pushTree(makeTree(["120000", "link", link]), [link]);
    },
  },
  {
    name: "an empty tree",
    push: () => pushTree(makeObject("tree", ""), []),
  },
  {
    name: "every mode that git writes",
    push: ({ blob }) => {
      const inner = makeTree(["100644", "file", blob]);
      const tree = makeTree(
        ["100644", "a", blob],
        ["100755", "b", blob],
        ["120000", "c", blob],
        ["40000", "d", inner],
        ["160000", "e", blob.oid],
      );
      return pushTree(tree, [blob, inner]);
    },
  },
  special(".gitmodules", "", submodule("\tupdate = rebase\n")),
];

// `test/base/codec/fsck.test.ts` has every message.
testPushes([
  ...everyThird(refused).map((row) => ({ ...row, answer: "refused" }) as const),
  ...accepted.map((row) => ({ ...row, answer: "accepted" }) as const),
]);
