import { isHexOid } from "./oid.ts";
import { MAX_REF_NAME_BYTES } from "./limits.ts";

// Ref names are byte strings (see byte-string.ts).

/** Prefixes of the names of branches and of tags. */
export const HEADS = "refs/heads/";
export const TAGS = "refs/tags/";

/** The default for a new repository's HEAD. */
export const DEFAULT_BRANCH = "main";

/** Characters and sequences that no ref name may contain: control characters, space, `~ ^ : ? *
 * [ \`, DEL, `..`, `@{`. */
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

/** Whether a push may change this ref: below refs/, with at least two more components. One
 * component is enough for a deletion, so that refs accepted by older rules can be removed. Refused
 * names are reported as "funny refname".
 * @see git's builtin/receive-pack.c, update() */
export function isPushableRefName(name: string, deleting: boolean): boolean {
  return (
    name.length <= MAX_REF_NAME_BYTES && name.startsWith("refs/") && isRefName(name.slice("refs/".length), deleting)
  );
}

/** Whether a branch may become the default one: `git clone` takes its name as an argument.
 * @param name without `refs/heads/`, byte string */
export function isBranchName(name: string): boolean {
  const ref = `refs/heads/${name}`;
  return !name.startsWith("-") && name !== "HEAD" && ref.length <= MAX_REF_NAME_BYTES && isRefName(ref);
}

/** Prefixes that state the kind of ref that a name means. */
export const QUALIFIED = /^(?:refs|heads|tags|remotes)\//;

/** Finds a branch's name in URLs: its short name, unless that means something else there, alone or
 * before a path. Other refs do not matter, because branches take precedence.
 * @param short without `refs/heads/`, byte string
 * @see splitRevPath */
export function branchRev(short: string): string {
  const [first] = short.split("/", 1);
  return isTaken(first!) ? HEADS + short : short;
}

/** Whether the first part of a URL's revision cannot begin a short name.
 * @param first first of the parts */
export function isTaken(first: string): boolean {
  return first === "HEAD" || first === "@" || isHexOid(first) || QUALIFIED.test(`${first}/`);
}
