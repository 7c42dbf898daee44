import { toByteString } from "../../base/format/byte-string.ts";
import { parseGitmodules } from "../../base/format/gitmodules.ts";
import { GITLINK_MODE, isFileMode } from "../../base/format/tree.ts";
import type { FileColumns } from "../../contract/files.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, type Revision } from "../objects/revision.ts";
import { entryAt } from "../objects/tree-path.ts";
import type { ShownModules } from "../../contract/pages.ts";

/** Bytes of a `.gitmodules` file that is read: that of a project with 500 submodules has 60 KB. */
const MAX_BYTES = 256 * 1024;

/** Reads where submodules come from, as `.gitmodules` in the root of their commit says.
 * @param paths of submodules, byte strings
 * @returns for each its URL, a byte string as it is written there; null: it is not known */
export async function submoduleUrls(
  repository: OpenRepository,
  commit: Revision,
  paths: readonly string[],
): Promise<(string | null)[]> {
  if (paths.length === 0) return [];
  const root = peel(repository, commit, "tree");
  const entry = await entryAt(repository, root.number, ".gitmodules");
  const isRead =
    entry !== null && isFileMode(entry.mode) && (repository.find(entry.oid)?.size ?? Infinity) <= MAX_BYTES;
  if (!isRead) return paths.map(() => null);
  const { bytes } = await repository.reader.read(entry.number);
  const urls = new Map(parseGitmodules(toByteString(bytes)).map(({ path, url }) => [path, url]));
  return paths.map((path) => urls.get(path) ?? null);
}

/** Reads where the submodules of a directory come from.
 * @param path of the directory, byte string, "" for the root */
export async function readModules(
  repository: OpenRepository,
  commit: Revision,
  path: string,
  { paths: names, modes }: Pick<FileColumns, "paths" | "modes">,
): Promise<ShownModules> {
  const modules = names.filter((_, i) => modes[i] === GITLINK_MODE);
  const urls = await submoduleUrls(
    repository,
    commit,
    modules.map((name) => (path === "" ? name : `${path}/${name}`)),
  );
  return new Map(modules.flatMap((name, i) => (urls[i] === null ? [] : [[name, urls[i]!]])));
}
