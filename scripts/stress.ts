/** `npm run stress`: load on a server, and every answer held against git and against what was
 * acknowledged. */
import { runProgram } from "./verify/check.ts";

await runProgram({
  name: "stress",
  text: `Puts load on a server, and holds every answer against git and against what was
acknowledged. A server is started for it, or --server URL (or the variable SERVER) names one that
runs already: that gets repositories below /stress/, which are deleted at the end; HOLDFAST_TOKEN
is the token, where one is asked for: of a right to administer all that the owner "stress" has.

Exit status: 0 when nothing failed and nothing was wrong, 1 when something was, 2 when it could
not be found out.`,
  fallback: "quick",
  checks: {
    quick: [
      "sizes and races: 100 to 5,000 files, under two minutes (what is done unless another is named)",
      () => import("./stress/quick.ts"),
    ],
    full: ["the same with 100 to 10,000 files and more clients, seven minutes", () => import("./stress/full.ts")],
    soak: [
      "many clients on many repositories for ten minutes, and memory that stays",
      () => import("./stress/soak.ts"),
    ],
  },
});
