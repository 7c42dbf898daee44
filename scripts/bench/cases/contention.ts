/** Files changed by writers of one branch, who merge what the others have saved: git's in their clones, the API's on the server. */
import type { Hosts } from "../hosts/hosts.ts";
import type { EditKind } from "../work/edit.ts";
import { Ledger } from "../work/ledger.ts";
import { measureLoop, type Shape } from "../work/save-loop.ts";
import { Stores } from "../work/stores.ts";
import { joinSaves, type SavePlan, type Saves } from "./saves.ts";

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
  const ledger = new Ledger();
  const loops: Saves[] = [];
  for (const [phase, edits] of Object.entries(CONTENTIONS)) {
    const lanes = await stores.openLanes(shape);
    loops.push(await measureLoop({ ...plan, phase, edits, shape, isContended: true }, lanes, ledger));
  }
  process.stderr.write(`${await ledger.check()} saves are all there, and every object is sound\n`);
  return joinSaves(loops);
}
