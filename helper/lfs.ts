import { spawnSync } from "node:child_process";
import { git } from "./git.ts";

/** Tells the client of Git LFS where a repository's server is. It appends to the URL of a remote,
 * and cannot ask `holdfast::…`. A push runs it as a hook, after git has begun to speak with this
 * helper.
 *
 * Each remote with this URL gets `lfsurl`, or `lfspushurl` if it only pushes there. What the user
 * has set stays: `holdfastlfs` holds what was set here. A push without a remote has the setting
 * until it ends. Where LFS is not set up, nothing is done.
 * @param address of the repository, without `holdfast::`
 * @see git-lfs-config(5) */
export async function pointLfs(address: string, isPush: boolean): Promise<void> {
  // Outside of a repository nothing is pushed or checked out.
  if (process.env["GIT_DIR"] === undefined) return;
  const settings = await readSettings();
  if (!settings.has("filter.lfs.process") || settings.has("lfs.url")) return;
  const url = `holdfast::${address}`;
  const server = `${address.replace(/\/+$/, "").replace(/\.git$/, "")}.git/info/lfs`;
  const uses = [...settings].flatMap(([key, values]) => {
    const [, remote, kind] = values.includes(url) ? (/^(remote\..+)\.((?:push)?url)$/.exec(key) ?? []) : [];
    return remote === undefined ? [] : [{ remote, key: `${remote}.lfs${kind}` }];
  });
  for (const { remote, key } of uses) {
    const [present] = settings.get(key) ?? [];
    const isOwn = present === undefined || settings.get(`${remote}.holdfastlfs`)?.includes(present) === true;
    if (present === server || !isOwn) continue;
    await git(["config", "--local", key, server]);
    await git(["config", "--local", `${remote}.holdfastlfs`, server]);
  }
  if (uses.length > 0 || !isPush) return;
  await git(["config", "--local", `remote.${url}.lfsurl`, server]);
  process.once("exit", () => spawnSync("git", ["config", "--local", "--remove-section", `remote.${url}`]));
}

/** git's configuration: values by key. */
async function readSettings(): Promise<Map<string, string[]>> {
  const settings = new Map<string, string[]>();
  for (const setting of (await git(["config", "--list", "-z"])).split("\0")) {
    const end = setting.indexOf("\n");
    const [key, value] = end < 0 ? [setting, ""] : [setting.slice(0, end), setting.slice(end + 1)];
    settings.set(key, [...(settings.get(key) ?? []), value]);
  }
  return settings;
}
