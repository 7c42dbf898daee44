/** `npm run verify -- WHAT`: compares Holdfast's results with git's and with what it promises. */
import "./verify/wasm-modules.ts";
import { runProgram } from "./verify/check.ts";

// Imported when they are run: some import much.
const content = () => import("./verify/content.ts");
const commits = () => import("./verify/commits.ts");
const history = () => import("./verify/history.ts");
const seeded = () => import("./verify/seeded.ts");

await runProgram({
  name: "verify",
  text: `Compares Holdfast's results with git's and with what it promises. HISTORY is your own bundle,
or a repository's folder or URL. Starts a server, or uses the running one that --server URL names.

Exit status: 0 if all is correct, 1 if something is wrong, 2 if the check could not run.`,
  checks: {
    history: [
      "HISTORY: it is fetched exactly as it was pushed, whole and commit by commit",
      async () => (await history()).history,
    ],
    fetch: [
      "HISTORY: shallow, partial and outdated clients get what git's own server sends",
      async () => (await import("./verify/fetch.ts")).fetchCheck,
    ],
    incremental: [
      "HISTORY: a fetch between any two commits sends exactly the missing objects",
      async () => (await history()).incremental,
    ],
    log: ["HISTORY: the API lists commits as git log does", async () => (await commits()).log],
    blame: ["HISTORY: the API blames each line as git blame does", async () => (await content()).blame],
    commits: ["HISTORY: the API shows commits as git does", async () => (await commits()).commits],
    compare: ["HISTORY: the API compares commits as git diff does", async () => (await commits()).compare],
    archive: ["HISTORY: archives, listings and searches by the API are git's", async () => (await content()).archive],
    languages: [
      "HISTORY: the API counts files and bytes as git ls-tree lists them",
      async () => (await content()).languages,
    ],
    contributors: [
      "HISTORY: the API counts authors, days and hours as git shortlog and git log do",
      async () => (await content()).contributors,
    ],
    merge: ["HISTORY: merges are those of git merge-tree", async () => (await import("./verify/merge.ts")).merge],
    "foreign-clients": [
      "[CLIENT...]: libgit2, dulwich, go-git, gix, isomorphic-git work as with git",
      async () => (await import("./verify/foreign-clients.ts")).foreignClients,
    ],
    faults: ["every call of a repository to its storage fails once", async () => (await seeded()).faults],
    concurrent: [
      "seeded runs with faults and crashes lose nothing that was acknowledged",
      async () => (await seeded()).concurrent,
    ],
    fuzz: ["parsers reject random and damaged inputs cleanly", async () => (await seeded()).fuzz],
    "fuzz-api": [
      "the API's routes follow their own document for valid and invalid requests",
      async () => (await seeded()).fuzzApi,
    ],
  },
});
