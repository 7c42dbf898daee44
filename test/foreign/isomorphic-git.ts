import fs from "node:fs";
import isomorphic from "isomorphic-git";
import http from "isomorphic-git/http/node";
import type { ForeignClient } from "./works.ts";

/** In JavaScript, its version from the lock file. */
export const ISOMORPHIC_GIT: ForeignClient = {
  name: `isomorphic-git ${isomorphic.version()}`,
  async clone(url, dir, depth) {
    await isomorphic.clone({ fs, http, dir, url, ...cut(depth) });
  },
  async deepen(dir, depth) {
    await isomorphic.fetch({ fs, http, dir, ...cut(depth) });
  },
  async pull(dir) {
    const author = { name: "Ada Example", email: "ada@example.com" };
    await isomorphic.pull({ fs, http, dir, author, fastForwardOnly: true });
  },
  async push(dir, ...refspecs) {
    for (const refspec of refspecs) {
      const [, force, ref, remoteRef] = /^(\+?)([^:]*):(.*)$/.exec(refspec)!;
      // A deletion names the remote's ref only.
      const named = ref === "" ? { ref: remoteRef!, delete: true } : { ref: ref!, remoteRef: remoteRef! };
      await isomorphic.push({ fs, http, dir, remote: "origin", force: force !== "", ...named });
    }
  },
};

function cut(depth: number): { readonly depth?: number; readonly singleBranch: boolean } {
  return depth === 0 ? { singleBranch: false } : { depth, singleBranch: true };
}
