// Commits and tags that git's fsck refuses, and odd ones that it accepts. @see git-fsck(1) "FSCK
// MESSAGES"
import { type MadeObject, makeObject, makeTag, makeTree, packOf, PERSON } from "../harness/pack-builder.ts";
import { BASE, everyThird, type Ground, type PushRow, testPushes } from "../harness/push-table.ts";

type Row = Omit<PushRow, "answer">;

/** The lines of a well-formed commit, to be replaced by name. */
interface CommitLines {
  tree: string;
  parent: string;
  author: string;
  committer: string;
  rest: string;
}

function commitLines({ tree }: Ground): CommitLines {
  return {
    tree: `tree ${tree.oid}\n`,
    parent: `parent ${BASE.commit.oid}\n`,
    author: `author ${PERSON}\n`,
    committer: `committer ${PERSON}\n`,
    rest: "\nMessage\n",
  };
}

/** A branch to a commit with some lines replaced. @param id the name of fsck's message */
function commit(
  name: string,
  id: string,
  change: Partial<CommitLines> | ((ground: Ground) => Partial<CommitLines>),
): Row {
  return {
    name: `commit ${id}: ${name}`,
    reason: new RegExp(id, "i"),
    push: (ground) => {
      const lines = { ...commitLines(ground), ...(typeof change === "function" ? change(ground) : change) };
      const text = lines.tree + lines.parent + lines.author + lines.committer + lines.rest;
      const made = makeObject("commit", Buffer.from(text, "latin1"));
      return { pack: packOf(ground.blob, ground.tree, made), tip: made.oid, objects: [ground.blob, ground.tree] };
    },
  };
}

function author(name: string, id: string, person: string): Row {
  return commit(name, id, { author: `author ${person}\n` });
}

/** A tag of the ground's commit. @param make receives its well-formed text */
function tag(name: string, id: string, make: (text: string, ground: Ground) => string): Row {
  return {
    name: `tag ${id}: ${name}`,
    reason: new RegExp(id, "i"),
    push: (ground, branch) => {
      const { blob, tree, commit: target } = ground;
      const made = makeObject("tag", make(makeTag(target, "commit", "v1").content.toString(), ground));
      return {
        commands: [{ name: branch.replace("heads", "tags"), new: made.oid }],
        pack: packOf(blob, tree, target, made),
      };
    },
  };
}

function otherwise(row: Row, git: PushRow["git"]): Row {
  return { ...row, ...(git === undefined ? {} : { git }) };
}

function without(name: string): (text: string) => string {
  return (text) => text.replace(new RegExp(`^${name} .*\n`, "m"), "");
}

const refused: readonly Row[] = [
  commit("", "missingTree", { tree: "" }),
  commit("", "missingAuthor", { author: "" }),
  commit("", "missingCommitter", { committer: "" }),
  commit("", "multipleAuthors", { author: `author ${PERSON}\nauthor ${PERSON}\n` }),
  commit("not hexadecimal", "badTreeSha1", { tree: `tree ${"g".repeat(40)}\n` }),
  commit("too short", "badTreeSha1", ({ tree }) => ({ tree: `tree ${tree.oid.slice(1)}\n` })),
  commit("not hexadecimal", "badParentSha1", { parent: `parent ${"g".repeat(40)}\n` }),
  author("", "missingEmail", "Ada Example 1700000000 +0100"),
  author("not closed", "badEmail", "Ada Example <ada@example.com 1700000000 +0100"),
  author("opened twice", "badEmail", "Ada Example <ada<@example.com> 1700000000 +0100"),
  author("a bracket in the name", "badName", "Ada> Example <ada@example.com> 1700000000 +0100"),
  author(
    "another bracket in the name",
    "badName|missingEmail|badEmail",
    "Ada < Example <ada@example.com> 1700000000 +0100",
  ),
  author("", "missingNameBeforeEmail", "<ada@example.com> 1700000000 +0100"),
  author("", "missingSpaceBeforeEmail", "Ada Example<ada@example.com> 1700000000 +0100"),
  author("", "zeroPaddedDate", "Ada Example <ada@example.com> 01700000000 +0100"),
  author("", "badDateOverflow", "Ada Example <ada@example.com> 99999999999999999999 +0100"),
  author("not a number", "badDate", "Ada Example <ada@example.com> yesterday +0100"),
  author("missing", "badDate", "Ada Example <ada@example.com> "),
  commit("in the header", "nulInHeader|unterminatedHeader|nulInCommit|bad", {
    committer: `committer Ada\0Example <a@b> 1 +0000\n`,
  }),
  commit("in the message", "nulInCommit", { rest: "\nMess\0age\n" }),
  commit("no newline behind the last header", "unterminatedHeader|bad", { committer: `committer ${PERSON}`, rest: "" }),
  {
    name: "commit of no bytes",
    push: ({ blob }) => {
      const made = makeObject("commit", "");
      return { pack: packOf(blob, made), tip: made.oid, objects: [blob] };
    },
  },
  tag("", "missingObject", without("object")),
  tag("", "missingTypeEntry|missingType", without("type")),
  tag("", "missingTagEntry", without("tag")),
  tag("", "badType", (text) => text.replace("type commit", "type branch")),
  tag("not hexadecimal", "badObjectSha1", (text) => text.replace(/^object ..../, "object gggg")),
  tag("no email", "missingEmail", (text) => text.replace("<ada@example.com> ", "")),
  tag("no bytes", "", () => ""),
];

const accepted: readonly Row[] = [
  otherwise(author("as old tools wrote it", "badTimezone", "Ada Example <ada@example.com> 1700000000 +1"), "refuses"),
  otherwise(
    author("as old tools wrote it", "missingSpaceBeforeDate", "Ada Example <ada@example.com>1700000000 +0100"),
    "refuses",
  ),
  commit("a header that git does not know", "", { committer: `committer ${PERSON}\nx-review passed\n` }),
  commit("a signature of 64 KB", "", {
    committer: `committer ${PERSON}\ngpgsig begin\n${` ${"s".repeat(63)}\n`.repeat(1_024)} end\n`,
  }),
  commit("no message", "", { rest: "\n" }),
  commit("bytes that are not UTF-8", "", {
    author: "author Ad\xe9 <ada@example.com> 1700000000 +0100\n",
    rest: "\n\xff\xfe\n",
  }),
  commit("no parent", "", { parent: "" }),
  commit("ids in capital digits", "", ({ tree }) => ({
    tree: `tree ${tree.oid.toUpperCase()}\n`,
    parent: `parent ${BASE.commit.oid.toUpperCase()}\n`,
  })),
  tag("as git's first versions wrote it", "missingTaggerEntry", without("tagger")),
  tag("a name that is no ref's", "badTagName", (text) => text.replace("tag v1", "tag odd name..lock")),
  {
    name: "tag of a tag, of a tree and of a blob",
    push: ({ blob, tree, commit: target }, branch) => {
      const first = makeTag(target, "commit", "first");
      const tags: MadeObject[] = [
        makeTag(first, "tag", "tag"),
        makeTag(tree, "tree", "tree"),
        makeTag(blob, "blob", "blob"),
      ];
      const commands = tags.map((made, i) => ({ name: `${branch.replace("heads", "tags")}-${i}`, new: made.oid }));
      return { commands, pack: packOf(blob, tree, target, first, ...tags) };
    },
  },
  {
    name: "a tag ref on a tree and on a blob",
    push: ({ blob }, branch) => {
      const tree = makeTree(["100644", "other", blob]);
      const commands = [tree, blob].map((made, i) => ({
        name: `${branch.replace("heads", "tags")}-${i}`,
        new: made.oid,
      }));
      return { commands, pack: packOf(blob, tree) };
    },
  },
];

// `test/base/codec/fsck.test.ts` has every message.
testPushes([
  ...everyThird(refused).map((row) => ({ ...row, answer: "refused" }) as const),
  ...accepted.map((row) => ({ ...row, answer: "accepted" }) as const),
]);
