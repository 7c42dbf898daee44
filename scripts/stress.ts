/** `npm run stress`: puts load on a server, and compares every answer with git and with the
 * acknowledged pushes. */
import { runProgram } from "./verify/check.ts";

await runProgram({
  name: "stress",
  text: `Puts load on a server, and compares every answer with git and with the acknowledged pushes.
Starts a server, or uses the running one that --server URL (or the variable SERVER) names. There it
makes repositories below /stress/ and deletes them at the end. If the server needs a token,
HOLDFAST_TOKEN must hold one that may administer all that the owner "stress" owns.

Exit status: 0 if nothing failed and nothing was wrong, 1 if something was, 2 if the check could
not run.`,
  fallback: "quick",
  checks: {
    quick: [
      "sizes and races: 100 to 5,000 files, under two minutes (the default)",
      async () => (await import("./stress/load.ts")).quick,
    ],
    full: [
      "the same with 100 to 10,000 files and more clients, seven minutes",
      async () => (await import("./stress/load.ts")).full,
    ],
    soak: [
      "many clients on many repositories for ten minutes; memory must not grow",
      async () => (await import("./stress/soak.ts")).soak,
    ],
  },
});
