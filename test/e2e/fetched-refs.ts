import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { git, listRefs, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { sendPush } from "../harness/raw-push.ts";
import { countReceived } from "../harness/received-pack.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** Pushes so many branches to a new remote, and expects a mirror to have them all, and to follow
 * when one moves. */
export async function expectManyRefs(url: string, count: number): Promise<void> {
  const origin = await makeHistory({ commits: 30, files: 10 });
  const commits = (await git(origin, "rev-list", "main")).split("\n");
  const refs = Array.from(
    { length: count },
    (_, i) => [`refs/heads/topic-${i}`, commits[i % commits.length]!] as const,
  );
  // With loose refs, git would create a file for each.
  const packed = refs.map(([name, oid]) => `${oid} ${name}\n`).toSorted((a, b) => (a.slice(41) < b.slice(41) ? -1 : 1));
  writeFileSync(join(origin, "packed-refs"), packed.join(""), { flag: "wx" });
  await git(origin, "push", "-q", url, "main");
  // A raw push: git itself takes minutes for so many refs, with any server.
  const { stdoutBytes: pack } = await tryGit(origin, ["pack-objects", "-q", "--stdout"]);
  const pushed = await sendPush(url, { commands: refs.map(([name, oid]) => ({ name, new: oid })), pack });
  expect(pushed.unpack).toBe("ok");
  const mirror = join(makeTempDir("clone"), "clone.git");
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", url, mirror);
  expect(await listRefs(mirror)).toBe(await listRefs(origin));
  // An up-to-date mirror asks for nothing; after one ref moved it receives that one.
  expect(await countReceived(mirror, "fetch", "-q", "origin")).toBe(0);
  await git(origin, "update-ref", "refs/heads/topic-7", commits[0]!);
  await git(origin, "push", "-q", url, "+refs/heads/topic-7");
  await git(mirror, "-c", "protocol.version=0", "fetch", "-q", "origin");
  expect(await listRefs(mirror)).toBe(await listRefs(origin));
}
