/** Files changed by writers of one branch, who merge what the others have saved: git's in their clones, the API's on the server. */
import type { Hosts } from "../hosts/hosts.ts";
import type { EditKind } from "../work/edit.ts";
import { Ledger } from "../work/ledger.ts";
import { measureLoops, type Shape } from "../work/save-loop.ts";
import { Stores } from "../work/stores.ts";
import type { SavePlan, Saves } from "./saves.ts";

/** What they change: each other files; a line of their own in one file; all the same line, which cannot be merged. */
const CONTENTIONS: Readonly<Record<string, EditKind>> = {
  "contention, own files": "modify",
  "contention, own lines": "own line",
  "contention, one line": "same line",
};

/** So many writers of one branch. */
export async function measureContention(
  { writers, files }: Pick<Shape, "writers" | "files">,
  plan: SavePlan,
  hosts: Hosts,
): Promise<Saves> {
  const shape = { writers, repositories: 1, branches: 1, files };
  const stores = await Stores.open(hosts, { ...plan, ...shape });
  const lanes = await stores.openLanes(shape);
  const ledger = new Ledger();
  const saves = await measureLoops(
    Object.entries(CONTENTIONS).map(([phase, edits]) => ({
      plan: { ...plan, phase, edits, shape, isContended: true },
      lanes,
    })),
    ledger,
  );
  process.stderr.write(`${await ledger.check()} saves are all there, and every object is sound\n`);
  return saves;
}
