/** Compares the API's histories with git's, commit by commit and in order. */
import { defineApiCheck, type ServedHistory } from "./served-history.ts";

export default defineApiCheck(
  `A case is a log of a random commit: with and without a path, times, an author, a text, first parents
only, renames followed; in pages of random size.`,
  async (history) => {
    const { random } = history;
    const ref = history.pickCommit();
    const query: Record<string, string> = { ref, limit: String(random.pick([10, 30, 100])) };
    const args: string[] = [];
    const at = async (format: string): Promise<string> =>
      history.git("log", "-1", `--format=${format}`, history.pickCommit());
    if (random.below(4) === 0) args.push(`--since=${(query["since"] = await at("%cI"))}`);
    if (random.below(4) === 0) args.push(`--until=${(query["until"] = await at("%cI"))}`);
    if (random.below(4) === 0) args.push("-F", `--author=${(query["author"] = await at(random.pick(["%an", "%ae"])))}`);
    const word = /\w+/.exec(await at("%s"))?.[0];
    if (word !== undefined && random.below(4) === 0) args.push("-F", `--grep=${(query["text"] = word)}`);
    if (random.below(4) === 0) {
      query["firstParent"] = "true";
      args.push("--first-parent");
    }
    const path = random.below(4) === 0 ? null : await choosePath(history);
    if (path !== null) {
      query["path"] = path;
      if (random.below(3) === 0) {
        query["follow"] = "true";
        args.push("--follow");
      }
    }
    args.push(ref, "--", ...(path === null ? [] : [path]));
    const { items } = await history.pages<{ oid: string }>(`/log?${new URLSearchParams(query).toString()}`, "commits");
    const listed = await history.git("log", "--format=%H", ...args);
    return [[`git log ${args.join(" ")}`, items.map(({ oid }) => oid).join("\n"), listed]];
  },
);

/** A file or a folder of a commit. */
async function choosePath(history: ServedHistory): Promise<string | null> {
  const { random } = history;
  const files = (await history.git("ls-tree", "-r", "-z", "--name-only", history.pickCommit())).split("\0");
  const parts = random.pick(files).split("/");
  return parts.slice(0, random.pick([parts.length, parts.length, random.below(parts.length) + 1])).join("/") || null;
}
