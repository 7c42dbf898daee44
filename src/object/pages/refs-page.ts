import { OID_BYTES } from "../../base/format/oid.ts";
import { fromTypeNumber } from "../../base/format/object.ts";
import type { Ref } from "../store/refs/refs.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { readCommits } from "../objects/commit-record.ts";
import { toIsoDate } from "../../base/format/ident.ts";
import { tagRev } from "../objects/named-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { describeBranches } from "../refs/branches.ts";
import { describeTags } from "../refs/tags.ts";
import { rangeOf } from "./ref-choices.ts";
import type { PartRequest, BranchesPage, TagsPage } from "../../contract/pages.ts";
import { HEADS, TAGS } from "../../base/format/ref-name.ts";

/** Lists branches. */
export async function branchesPage(repository: OpenRepository, { start, limit }: PartRequest): Promise<BranchesPage> {
  const head = repository.advertised.head?.target ?? null;
  const all = newestFirst(repository, HEADS);
  const others = all.filter(({ ref }) => ref.name !== head);
  const main = all.filter(({ ref }) => ref.name === head);
  const part = [...main, ...others.slice(start, start + limit)];
  const records = await describeBranches(
    repository,
    part.map(({ ref }) => ref),
  );
  const numbers = part.map(({ number }) => number);
  const tips = new Map(await Array.fromAsync(readCommits(repository, [...new Set(numbers)])));
  const listed = records.map((record, i) => ({
    ...record,
    name: part[i]!.ref.name.slice(HEADS.length),
    tip: tips.get(numbers[i]!)!,
  }));
  return { main: listed.slice(0, main.length)[0] ?? null, branches: listed.slice(main.length), total: others.length };
}

/** Lists tags. */
export async function tagsPage(repository: OpenRepository, { start, limit }: PartRequest): Promise<TagsPage> {
  const all = newestFirst(repository, TAGS);
  const part = all.slice(start, start + limit);
  const records = await describeTags(
    repository,
    part.map(({ ref }) => ref),
  );
  const tags = records.map((record, i) => ({
    ...record,
    name: part[i]!.ref.name.slice(TAGS.length),
    rev: tagRev(repository.advertised, part[i]!.ref.name.slice(TAGS.length)),
    committed: part[i]!.time === null ? null : toIsoDate(part[i]!.time, "+0000"),
  }));
  return { tags, total: all.length };
}

/** A ref with the commit that it finally names. */
interface TimedRef {
  readonly ref: Ref;
  readonly number: ObjectNumber;
  /** Seconds since 1970; null: it names no commit. */
  readonly time: number | null;
}

/** All refs with a prefix, in memory: their number has a limit. */
function newestFirst({ advertised, tables }: OpenRepository, prefix: string): TimedRef[] {
  const { names, oids, peeled } = advertised.all;
  const [from, end] = rangeOf(names, prefix);
  const ends = oids.slice(from * OID_BYTES, end * OID_BYTES);
  const refs = names.slice(from, end).map((name, i): Ref => {
    const at = (from + i) * OID_BYTES;
    const target = peeled.subarray(at, at + OID_BYTES);
    const isPeeled = target.some((byte) => byte !== 0);
    if (isPeeled) ends.set(target, i * OID_BYTES);
    return { name, oid: oids.slice(at, at + OID_BYTES), peeled: isPeeled ? target.slice() : null };
  });
  const { number, type } = tables.objects.lookupMany(ends);
  const timed = refs.map((ref, i) => {
    const isCommit = number[i] !== 0 && fromTypeNumber(type[i]!) === "commit";
    return { ref, number: number[i]!, time: isCommit ? tables.graph.time(tables.graph.position(number[i]!)) : null };
  });
  return timed.sort((a, b) => (b.time ?? 0) - (a.time ?? 0) || (a.ref.name < b.ref.name ? -1 : 1));
}
