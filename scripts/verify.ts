/** `npm run verify -- WHAT`: compares Holdfast's results with git's and with what it promises. */
import "./verify/wasm-modules.ts";
import { runProgram } from "./verify/check.ts";

await runProgram({
  name: "verify",
  text: `Compares Holdfast's results with git's and with what it promises. HISTORY is your own bundle,
or a repository's folder or URL. Starts a server, or uses the running one that --server URL names.

Exit status: 0 if all is correct, 1 if something is wrong, 2 if the check could not run.`,
  checks: {
    history: [
      "HISTORY: it is fetched exactly as it was pushed, whole and commit by commit",
      () => import("./verify/history.ts"),
    ],
    fetch: [
      "HISTORY: shallow, partial and outdated clients get what git's own server sends",
      () => import("./verify/fetch.ts"),
    ],
    incremental: [
      "HISTORY: a fetch between any two commits sends exactly the missing objects",
      () => import("./verify/incremental.ts"),
    ],
    log: ["HISTORY: the API lists commits as git log does", () => import("./verify/log.ts")],
    blame: ["HISTORY: the API blames each line as git blame does", () => import("./verify/blame.ts")],
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
      "[CLIENT...]: libgit2, dulwich, go-git, gix, isomorphic-git work as with git",
      () => import("./verify/foreign-clients.ts"),
    ],
    faults: ["every call of a repository to its storage fails once", () => import("./verify/faults.ts")],
    concurrent: [
      "seeded runs with faults and crashes lose nothing that was acknowledged",
      () => import("./verify/concurrent.ts"),
    ],
    fuzz: ["parsers reject random and damaged inputs cleanly", () => import("./verify/fuzz.ts")],
    "fuzz-api": [
      "the API's routes follow their own document for valid and invalid requests",
      () => import("./verify/fuzz-api.ts"),
    ],
  },
});
