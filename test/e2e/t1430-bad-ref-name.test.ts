// Invalid ref names, and odd valid ones. @see git-check-ref-format(1)
import { packOf } from "../harness/pack-builder.ts";
import { BASE, everyThird, type PushRow, testPushes } from "../harness/push-table.ts";

/** A push of one ref. */
function named(name: string | Uint8Array, answer: "accepted" | "refused", git?: PushRow["git"]): PushRow {
  const shown = typeof name === "string" ? name : Buffer.from(name).toString("latin1");
  return {
    name: `${answer}: ${JSON.stringify(shown.length > 60 ? `${shown.slice(0, 60)}…` : shown)}`,
    answer,
    ...(answer === "refused" ? { unpack: "ok", reason: /funny refname$/m } : {}),
    ...(git === undefined ? {} : { git }),
    push: ({ blob, tree, commit }) => ({ pack: packOf(blob, tree, commit), commands: [{ name, new: commit.oid }] }),
  };
}

const refused = [
  "main",
  "HEAD",
  "ORIG_HEAD",
  "heads/main",
  "refs",
  "refs/",
  "refs/main",
  "Refs/heads/main",
  "/refs/heads/main",
  "../refs/heads/main",
  "refs/../HEAD",
  "refs/heads/a..b",
  "refs/heads/..",
  "refs/heads/.",
  "refs/heads/.hidden",
  "refs/.hidden/a",
  "refs/heads/a.lock",
  "refs/heads/a.lock/b",
  "refs/heads/a.",
  "refs/heads/a/",
  "refs/heads//a",
  "refs/heads/a b",
  "refs/heads/a~b",
  "refs/heads/a^b",
  "refs/heads/a:b",
  "refs/heads/a?b",
  "refs/heads/a*b",
  "refs/heads/a[b",
  "refs/heads/a\\b",
  "refs/heads/a@{b",
  "refs/heads/a\x01b",
  "refs/heads/a\tb",
  "refs/heads/a\x1fb",
  "refs/heads/a\x7fb",
  "refs/heads/a\nb",
  "",
];

const accepted: readonly (string | Uint8Array)[] = [
  "refs/heads/@",
  "refs/heads/-x",
  "refs/heads/HEAD",
  `refs/heads/${"0123456789abcdef".repeat(3).slice(0, 40)}`,
  Buffer.from("refs/heads/caf\xe9", "latin1"),
  "refs/heads/emoji-\u{1f600}",
  "refs/heads/a.b-c_d+e=f,g(h)!i%j&k'l\"m$n#o{p}q;r<s>t|u`v",
  "refs/heads/lock.locked",
  "refs/heads/deep/er/and/deep/er",
  "refs/notes/commits",
  "refs/anything/at/all",
];

testPushes([
  // `test/base/format/ref-name.test.ts` has every rule.
  ...everyThird(refused.map((name) => named(name, "refused"))),
  named(`refs/heads/${"n".repeat(5_000)}`, "refused"),
  ...accepted.map((name) => named(name, "accepted")),
  {
    name: "refused: a file where there is a directory",
    answer: "refused",
    unpack: "ok",
    push: ({ blob, tree, commit }) => ({
      pack: packOf(blob, tree, commit),
      commands: [{ name: "refs/heads/deep/er", new: commit.oid }],
    }),
  },
  {
    name: "refused: a directory where there is a file",
    answer: "refused",
    unpack: "ok",
    push: ({ blob, tree, commit }) => ({
      pack: packOf(blob, tree, commit),
      commands: [{ name: "refs/heads/main/topic", new: commit.oid }],
    }),
  },
  {
    name: "refused: the same ref twice",
    answer: "refused",
    unpack: "ok",
    reason: /multiple updates for ref 'refs\/heads\/row-\d+' not allowed/,
    // Git's answer depends on which of the two it handles first.
    git: "either",
    push: ({ blob, tree, commit }, branch) => ({
      pack: packOf(blob, tree, commit),
      commands: [
        { name: branch, new: commit.oid },
        { name: branch, new: BASE.commit.oid },
      ],
    }),
  },
  {
    name: "refused: atomic, and one name is no ref's",
    answer: "refused",
    unpack: "ok",
    push: ({ blob, tree, commit }, branch) => ({
      pack: packOf(blob, tree, commit),
      capabilities: "atomic",
      commands: [
        { name: branch, new: commit.oid },
        { name: "refs/heads/a..b", new: commit.oid },
      ],
    }),
  },
  {
    name: "refused: creating what exists",
    answer: "refused",
    unpack: "ok",
    push: ({ blob, tree, commit }) => ({
      pack: packOf(blob, tree, commit),
      commands: [{ name: "refs/heads/main", new: commit.oid }],
    }),
  },
  {
    name: "refused: updating from a value that is not the ref's",
    answer: "refused",
    unpack: "ok",
    push: ({ blob, tree, commit }) => ({
      pack: packOf(blob, tree, commit),
      commands: [{ name: "refs/heads/main", old: commit.oid, new: commit.oid }],
    }),
  },
  {
    name: "refused: updating what does not exist",
    answer: "refused",
    unpack: "ok",
    push: ({ blob, tree, commit }, branch) => ({
      pack: packOf(blob, tree, commit),
      commands: [{ name: branch, old: BASE.commit.oid, new: commit.oid }],
    }),
  },
  {
    name: "refused: deleting from a value that is not the ref's",
    answer: "refused",
    unpack: "ok",
    push: () => ({ commands: [{ name: "refs/notes/commits", old: BASE.commit.oid }], objects: [] }),
  },
]);
