import { expect, test } from "vitest";
import { toCommitRecord } from "../../../src/object/objects/commit-record.ts";
import { toIsoDate } from "../../../src/base/format/ident.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";

test("a commit is shown as git shows it, in whatever encoding it was written", async () => {
  const dir = await makeRepository("source");
  const env = { GIT_AUTHOR_NAME: "Zoë", GIT_AUTHOR_DATE: "1234567890 -0730" };
  const commit = (encoding: string, stdin: Uint8Array) =>
    tryGit(dir, ["-c", `i18n.commitEncoding=${encoding}`, "commit", "--allow-empty", "-qF", "-"], { stdin, env });
  await commit("UTF-8", Buffer.from("Grüße\n\nbody\n"));
  await commit("ISO-8859-1", Buffer.from("Gr\u00fc\u00dfe\n", "latin1"));
  for (const revision of ["HEAD", "HEAD~"]) {
    const oid = await git(dir, "rev-parse", revision);
    const { stdoutBytes } = await tryGit(dir, ["cat-file", "commit", oid]);
    const format = "%T|%P|%ae|%aI|%cn|%ce|%cI|%B|";
    const [tree, parents, email, date, name, committer, committed, message] = (
      await git(dir, "log", "-1", `--format=${format}`, oid)
    ).split("|");
    expect(toCommitRecord(oid, stdoutBytes)).toEqual({
      oid,
      tree,
      parents: parents === "" ? [] : [parents],
      author: { name: expect.any(String), email, date },
      committer: { name, email: committer, date: committed!.replace("Z", "+00:00") },
      message,
    });
  }
});

test.each([
  [1_234_567_890, "+0530", "2009-02-14T05:01:30+05:30"],
  [0, "-0000", "1970-01-01T00:00:00-00:00"],
  [0, "+9999", "1970-01-01T00:00:00+00:00"],
  [0, "junk", "1970-01-01T00:00:00+00:00"],
  [Number.MAX_SAFE_INTEGER, "+0000", "1970-01-01T00:00:00+00:00"],
])("%d %s is %s", (seconds, zone, text) => {
  expect(toIsoDate(seconds, zone)).toBe(text);
});
