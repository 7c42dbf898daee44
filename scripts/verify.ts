/** `npm run verify -- WHAT`: holds what Holdfast does against what git does, and against what it
 * promises. */
import "./verify/wasm-modules.ts";
import { runProgram } from "./verify/check.ts";

await runProgram({
  name: "verify",
  text: `Holds what Holdfast does against what git does, and against what it promises. HISTORY is
a bundle, or a repository's folder or URL: your own. A server is started for it, or --server URL
names one that runs already.

Exit status: 0 when all is as it must be, 1 when something is not, 2 when it could not be found
out.`,
  checks: {
    history: ["HISTORY: it comes back as it went in, whole and commit by commit", () => import("./verify/history.ts")],
    fetch: [
      "HISTORY: clients of every kind (cut, deepened, partial, falling behind) get what git's own server gives",
      () => import("./verify/fetch.ts"),
    ],
    incremental: [
      "HISTORY: a fetch between any two commits brings exactly what is missing",
      () => import("./verify/incremental.ts"),
    ],
    log: ["HISTORY: the API lists commits as git log does", () => import("./verify/log.ts")],
    blame: ["HISTORY: the API tells who brought each line as git blame does", () => import("./verify/blame.ts")],
    commits: ["HISTORY: the API shows commits as git does", () => import("./verify/commits.ts")],
    compare: ["HISTORY: the API compares commits as git diff does", () => import("./verify/compare.ts")],
    archive: ["HISTORY: archives, listings and searches by the API are git's", () => import("./verify/archive.ts")],
    languages: [
      "HISTORY: the API counts files and bytes as git ls-tree lists them",
      () => import("./verify/languages.ts"),
    ],
    contributors: [
      "HISTORY: the API counts authors, days and hours as git shortlog and git log do",
      () => import("./verify/contributors.ts"),
    ],
    merge: ["HISTORY: merges are those of git merge-tree", () => import("./verify/merge.ts")],
    "foreign-clients": [
      "[CLIENT...]: libgit2, dulwich, go-git, gix and isomorphic-git do here what they do with git's own server",
      () => import("./verify/foreign-clients.ts"),
    ],
    faults: ["every call of a repository to its storage fails once", () => import("./verify/faults.ts")],
    concurrent: [
      "seeded runs of pushes, fetches, housekeeping, faults and crashes lose nothing that was acknowledged",
      () => import("./verify/concurrent.ts"),
    ],
    fuzz: ["parsers meet what nobody meant them to read", () => import("./verify/fuzz.ts")],
    "fuzz-api": ["routes meet what their document inspires", () => import("./verify/fuzz-api.ts")],
  },
});
