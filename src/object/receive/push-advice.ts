import { type GitError, isGitError } from "../../base/format/errors.ts";
import { isNullOid } from "../../base/format/oid.ts";
import type { RefCommand } from "../../contract/push.ts";

/** Refs up to which the advice names them. */
const MAX_NAMED_REFS = 3;

/** Names that no shell reads as anything else. */
const PLAIN_NAME = /^[\w][\w./-]*$/;

/** What the user of a push is shown that is refused because all of it is too large for one request:
 * the way out, in lines without a line feed.
 * @param url of the repository
 * @returns nothing for any other error */
export function adviseLargePush(error: GitError | null, url: string, commands: readonly RefCommand[]): string[] {
  if (!isGitError(error, "too-large") || error.data.limitKind !== "pack") return [];
  return [
    "This push is too large for one request. It can come in steps, which go on after a cut:",
    `    curl -fo ~/git-remote-holdfast ${new URL(url).origin}/-/git-remote-holdfast && chmod +x ~/git-remote-holdfast`,
    `    PATH=~:$PATH git push holdfast::${url} ${nameRefs(commands)}`,
  ];
}

function nameRefs(commands: readonly RefCommand[]): string {
  const specs = commands.map((command) => {
    const name = command.name.replace(/^refs\/(heads|tags)\//, "");
    if (!PLAIN_NAME.test(name)) return null;
    return isNullOid(command.new) ? `:${name}` : name;
  });
  return specs.length > MAX_NAMED_REFS || specs.includes(null) ? "<refs>" : specs.join(" ");
}
