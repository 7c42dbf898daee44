/** Makes pushes race. Without it the first is often over before the last has begun, because git
 * takes longer to start than the server to answer. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempDir } from "../../test/harness/temp-dir.ts";

/** Longest wait for the others, in hundredths of a second: a push that fails never arrives. */
const MOST_WAITS = 1_000;

/** Makes a gate that opens when this many pushes have read the refs and have sent nothing yet: at
 * that point git runs the hook `pre-push`.
 * @returns git's options that make it wait at the gate
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
