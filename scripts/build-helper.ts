/** Makes one file of the remote helper, for plain Node: `npm run build:client`. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { PROJECT } from "./project.ts";

const file = join(PROJECT, "dist/git-remote-holdfast.js");

await build({
  entryPoints: [join(PROJECT, "src/helper/main.ts")],
  outfile: file,
  bundle: true,
  platform: "node",
  // The oldest that package.json admits.
  target: "node20",
  format: "esm",
  legalComments: "none",
});
chmodSync(file, 0o755);
