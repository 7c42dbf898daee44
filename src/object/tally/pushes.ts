import { includesRight } from "../../base/access/caller.ts";
import { decodeText, encodeText } from "../../base/format/byte-string.ts";
import { LOOKED_FOR } from "../state/advertised-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { RecordedPush } from "../../contract/tally.ts";

/** Lists pushes, and commits through the API, newest first, as far back as the log goes. Who pushed
 * is shown only to requesters with write access: names of tokens reveal people and machines.
 * @param ref only pushes that moved it: a full or short name, also of a deleted ref; null: all
 * @param before only pushes with a lower id; null: from the newest */
export async function pushes(
  { tables, requester }: OpenRepository,
  { ref, before, limit }: { readonly ref: string | null; readonly before: number | null; readonly limit: number },
): Promise<{ pushes: readonly RecordedPush[]; next: number | null }> {
  const names = ref === null ? null : LOOKED_FOR.map((prefix) => prefix + encodeText(ref));
  const page = tables.pushes.page(before, limit, names);
  const isShown = includesRight(requester.right, "write");
  return {
    pushes: page.pushes.map(({ timeMs, refs, who, ...rest }) => ({
      ...rest,
      who: isShown && who !== null ? decodeText(who) : null,
      time: new Date(timeMs).toISOString(),
      refs: refs.map(([name, from, to]) => ({ name: decodeText(name), old: from, new: to })),
    })),
    next: page.next,
  };
}
