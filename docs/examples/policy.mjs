// A policy for Holdfast: a Worker of its own, bound as POLICY. It is asked before refs change, and
// allows or denies. docs/events.md says how.

const BRANCH = /^refs\/heads\/(main|(feature|fix|release)\/[a-z0-9][a-z0-9._-]*)$/;
const CONVENTIONAL = /^(build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(\([^()]+\))?!?: \S/;
const MERGE_OR_REVERT = /^(Merge|Revert|Reapply) /;
const MAX_FILE_BYTES = 5_000_000;

/** What is wrong with names, before the objects are read. */
function refuseName({ ref, old, new: to }) {
  if (ref.startsWith("refs/heads/") && old === null && !BRANCH.test(ref))
    return "name it feature/NAME, fix/NAME or release/NAME, in small letters";
  if (ref.startsWith("refs/heads/release/") && to === null) return "releases are kept";
}

/** What is wrong with the new commits, before the refs move. */
function refuseCommits({ commits, complete }) {
  for (const { oid, message, author, files } of commits) {
    const commit = oid.slice(0, 7);
    if (!CONVENTIONAL.test(message) && !MERGE_OR_REVERT.test(message))
      return `${commit}: begin the message as Conventional Commits do, such as "fix: …"`;
    if (!message.split("\n").includes(`Signed-off-by: ${author.name} <${author.email}>`))
      return `${commit}: sign it off: git commit --signoff`;
    const large = files.find(({ size }) => size > MAX_FILE_BYTES);
    if (large !== undefined) return `${commit}: ${large.path} is above 5 MB; use Git LFS`;
  }
  if (!complete) return "this is more than can be checked at once: push fewer commits at a time";
}

export default {
  async fetch(request) {
    const { stage, changes } = await request.json();
    const refuse = stage === "names" ? refuseName : refuseCommits;
    const refs = Object.fromEntries(
      changes.flatMap((change) => {
        const reason = refuse(change);
        return reason === undefined ? [] : [[change.ref, reason]];
      }),
    );
    return Response.json(Object.keys(refs).length > 0 ? { allow: false, refs } : { allow: true });
  },
};
