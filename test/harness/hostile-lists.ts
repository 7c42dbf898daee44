/** Requests that are themselves a field that is far too long, or lists of far too many. */
import type { HostileHistory } from "./hostile-draft.ts";
import type { Request } from "./hostile-requests.ts";
import type { Random } from "./random.ts";
import { encodeRequest } from "./transcript.ts";

const PERSON = { name: "Ada", email: "ada@example.com" };

/** Some requests of far too much, of one kind each, from a seeded source. */
export function toLongRequests(name: string, { refs, file }: HostileHistory, random: Random): Request[] {
  const api = `/api/repos/hostile/${name}`;
  const json = (path: string, value: unknown): Request => ({
    name: `long ${path}`,
    method: "POST",
    path: api + path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(value),
  });
  const fetchOf = (kind: string, lines: readonly string[]): Request => ({
    name: `long fetch of ${kind}`,
    method: "POST",
    path: `/hostile/${name}.git/git-upload-pack?${encodeURIComponent(kind)}`,
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: new Uint8Array(
      encodeRequest(kind === "prefixes" ? "command=ls-refs" : "command=fetch", "delim", ...lines, "flush"),
    ),
  });
  const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
  const main = refs.get("refs/heads/main")!;
  const depth = random.pick([1, 100, 1_000]);
  const operations = random.pick([1, 100, 2_000]);
  const below = many(depth, (i) => (random.below(10) === 0 ? `d${i}` : "d")).join("/");
  const commit = {
    branch: "main",
    author: PERSON,
    message: "m".repeat(random.pick([1, 1_000_000])),
    operations: many(operations, (i) => ({ op: "put", path: `${below}/${i}`, content: "new\n" })),
  };
  const requests: readonly Request[] = [
    json("/commits", commit),
    json("/commits", { ...commit, operations: many(operations, (i) => ({ op: "delete", path: `${file}/${i}` })) }),
    json("/merge", { base: "main", head: "fork", message: "m".repeat(1_000_000), author: PERSON }),
    json("/tags", { name: "long", target: "main", message: "m".repeat(1_000_000), tagger: PERSON }),
    fetchOf("want-refs", [...many(100_000, () => "want-ref refs/heads/main"), "done"]),
    fetchOf("other want-refs", [...many(50_000, (i) => `want-ref refs/heads/none${i}`), "done"]),
    fetchOf("wants", [...many(100_000, () => `want ${main}`), "done"]),
    fetchOf("haves", [`want ${main}`, ...many(60_000, (i) => `have ${i.toString(16).padStart(40, "0")}`)]),
    fetchOf("shallows", [
      `want ${main}`,
      ...many(60_000, (i) => `shallow ${i.toString(16).padStart(40, "0")}`),
      "done",
    ]),
    fetchOf("deepen-nots", [`want ${main}`, ...many(1_000, (i) => `deepen-not n${i}`), "done"]),
    fetchOf(
      "prefixes",
      many(60_000, (i) => `ref-prefix refs/heads/${i}`),
    ),
    { name: "long path", method: "GET", path: `${api}/log?path=${"a/".repeat(3_000)}a` },
    { name: "long glob", method: "GET", path: `${api}/grep?pattern=a&path=${encodeURIComponent("**/*a".repeat(500))}` },
    { name: "long pattern", method: "GET", path: `${api}/grep?pattern=${encodeURIComponent("(a?){50}".repeat(50))}` },
    { name: "long revision", method: "GET", path: `${api}/log?ref=main${"~1".repeat(2_000)}` },
  ];
  return many(4, () => random.pick(requests));
}
