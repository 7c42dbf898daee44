/** Makes pushes race: without it the first is often over before the last has begun, as git takes
 * longer to start than the server to answer. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempDir } from "../../test/harness/temp-dir.ts";

/** Longest wait for the others, in hundredths of a second: one that fails never comes. */
const MOST_WAITS = 1_000;

/** Makes a gate that opens when so many pushes have learnt where the refs are, and have sent
 * nothing yet: that is when git runs the hook `pre-push`.
 * @returns what git is told to pass through it
 * @see githooks(5) */
export function makeGate(pushes: number): readonly string[] {
  const dir = makeTempDir("gate");
  const hook = `#!/bin/sh
cat >/dev/null
: >'${dir}'/arrived-$$
waits=0
set -- '${dir}'/arrived-*
while [ $# -lt ${pushes} ] && [ $waits -lt ${MOST_WAITS} ]; do
  sleep 0.01
  waits=$((waits + 1))
  set -- '${dir}'/arrived-*
done
`;
  writeFileSync(join(dir, "pre-push"), hook, { mode: 0o755 });
  return ["-c", `core.hooksPath=${dir}`];
}
