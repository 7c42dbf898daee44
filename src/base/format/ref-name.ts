import { isHexOid } from "./oid.ts";
import { MAX_REF_NAME_BYTES } from "./limits.ts";

// Ref names are byte strings (see byte-string.ts).

/** What the names of branches and of tags begin with. */
export const HEADS = "refs/heads/";
export const TAGS = "refs/tags/";

/** The default for a new repository's HEAD. */
export const DEFAULT_BRANCH = "main";

/** What no ref name may contain: control characters, space, `~ ^ : ? * [ \`, DEL, `..`, `@{`. */
const FORBIDDEN = /[\0-\x20~^:?*[\\\x7f]|\.\.|@\{/;

/** Whether a name is well formed by git's rules.
 * @param oneLevel accept a name of one component, such as "HEAD"
 * @see git-check-ref-format(1) */
export function isRefName(name: string, oneLevel = false): boolean {
  if (name === "@" || name.endsWith(".") || FORBIDDEN.test(name)) return false;
  const components = name.split("/");
  if (components.length < 2 && !oneLevel) return false;
  return components.every(
    (component) => component !== "" && !component.startsWith(".") && !component.endsWith(".lock"),
  );
}

/** Whether a push may change this ref: below refs/, with at least two more components. For a
 * deletion one is enough, so that refs which older rules accepted can be removed. Refused names
 * are reported as "funny refname".
 * @see git's builtin/receive-pack.c, update() */
export function isPushableRefName(name: string, deleting: boolean): boolean {
  return (
    name.length <= MAX_REF_NAME_BYTES && name.startsWith("refs/") && isRefName(name.slice("refs/".length), deleting)
  );
}

/** Whether a branch may be made the default one: `git clone` takes its name as an argument.
 * @param name without `refs/heads/`, byte string */
export function isBranchName(name: string): boolean {
  const ref = `refs/heads/${name}`;
  return !name.startsWith("-") && name !== "HEAD" && ref.length <= MAX_REF_NAME_BYTES && isRefName(ref);
}

/** Prefixes that say which kind of ref a name means. */
export const QUALIFIED = /^(?:refs|heads|tags|remotes)\//;

/** How URLs name a branch: by its short name, unless this means something else there, alone or with
 * a path behind it. Other refs matter to no other name: branches come first.
 * @param short without `refs/heads/`, byte string
 * @see splitRevPath */
export function branchRev(short: string): string {
  const [first] = short.split("/", 1);
  return isTaken(first!) ? HEADS + short : short;
}

/** Whether a URL that begins so means no short name. @param first of its parts */
export function isTaken(first: string): boolean {
  return first === "HEAD" || first === "@" || isHexOid(first) || QUALIFIED.test(`${first}/`);
}
