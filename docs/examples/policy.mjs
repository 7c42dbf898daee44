// A policy for Holdfast: a Worker of its own, bound as POLICY. It is asked before refs change and
// allows or denies. docs/events.md says how.

const BRANCH = /^refs\/heads\/(main|(feature|fix|release)\/[a-z0-9][a-z0-9._-]*)$/;

export default {
  async fetch(request) {
    const { changes, caller, pushOptions } = await request.json();
    const refs = {};
    for (const { ref, old, new: to } of changes) {
      if (ref.startsWith("refs/heads/") && old === null && !BRANCH.test(ref))
        refs[ref] = "name it feature/NAME, fix/NAME or release/NAME, in small letters";
      if (ref.startsWith("refs/heads/release/") && to === null) refs[ref] = "releases are kept";
      if (ref === "refs/heads/main" && caller.right === "write" && !pushOptions.some((one) => /^ticket=\d+$/.test(one)))
        refs[ref] = "say which ticket it is for: git push -o ticket=NUMBER";
    }
    const isDenied = Object.keys(refs).length > 0;
    return Response.json(isDenied ? { allow: false, refs } : { allow: true });
  },
};
