import { beforeAll, expect, test } from "vitest";
import { openAuthored } from "../../../src/object/store/graph/author-table.ts";
import { git } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { housekeep } from "../maintenance/housekeep.ts";
import { PushedRepository } from "../pushing.ts";
import {
  appendHistory,
  clientOf,
  type Draft,
  importHistory,
  listByGit,
  listContributors,
  putFile,
} from "./authored-history.ts";

const MAILMAP = [
  "Ada Example <ada@x> <ada@old>",
  "<bob@new> <BOB@x>",
  "J\xc3\xbcrgen <j@x> J\xc3\xbcrgen K. <shared@x>",
  "Someone <shared@x>",
  "",
].join("\n");

/** Names as in old histories: in Latin 1, in Cyrillic, in no valid encoding. */
const PEOPLE: readonly (readonly [author: string, encoding?: string])[] = [
  ["Ada <ada@old>"],
  ["Ada Example <ada@x>"],
  ["bob <bob@x>"],
  ["Bob <bob@new>"],
  ["J\xfcrgen K. <shared@x>", "ISO-8859-1"],
  ["J\xc3\xbcrgen K. <shared@x>"],
  ["J\xfcrgen <j@x>", "latin-1"],
  ["J\xfcrgen <j@x>"],
  ["\xc9\xd7\xc1\xce <ivan@x>", "KOI8-R"],
  ["J\xfcrgen <j@x>", "no-such-encoding"],
  ["J\xfcrgen <j@x>", "us-ascii"],
  ["Some Other <shared@x>"],
  [" <nobody@x>"],
  ["Nobody <>"],
  ["tab\t <tab@x>"],
];

let dir: string;
let repository: PushedRepository;

beforeAll(async () => {
  const random = new Random(7);
  const drafts = Array.from({ length: 120 }, (_, i): Draft => {
    const [author, encoding] = random.pick(PEOPLE);
    const parents = i < 3 ? (i === 0 ? [] : [i]) : [i, ...(random.below(5) === 0 ? [1 + random.below(i - 1)] : [])];
    const zone = random.pick(["+0000", "-0330", "+1400", "+0545"]);
    return {
      author,
      date: `${1_600_000_000 + random.below(40_000_000)} ${zone}`,
      parents: [...new Set(parents)],
      ...(encoding === undefined ? {} : { encoding }),
      ...(i === 60 ? { changes: putFile(".mailmap", MAILMAP) } : {}),
    };
  });
  dir = await importHistory(drafts);
  repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/heads/main": "main" });
});

test("contributors are those of git shortlog, for any commit", async () => {
  const commits = (await git(dir, "rev-list", "main")).split("\n").filter((_, i) => i % 7 === 0);
  for (const commit of commits) {
    expect(await listContributors(clientOf(repository), commit)).toBe(await listByGit(dir, commit));
  }
});

test("times are those of the first and last commit, pages go on where the last ended", async () => {
  const client = clientOf(repository);
  const all = await client.contributors({ ref: "main", from: 0, limit: 100 });
  expect(all.total).toBe(all.contributors.length);
  const [, two, three] = all.contributors;
  expect((await client.contributors({ ref: "main", from: 1, limit: 2 })).contributors).toEqual([two, three]);
  const lines = (await git(dir, "log", "--format=%at\t%aN <%aE>")).split("\n").map((line) => line.split("\t"));
  for (const { name, email, first, last } of all.contributors) {
    const times = lines.filter(([, who]) => who === `${name} <${email}>`).map(([time]) => Number(time) * 1_000);
    expect([Date.parse(first), Date.parse(last)]).toEqual([Math.min(...times), Math.max(...times)]);
  }
});

test("activity is that of git log, by the authors' clocks", async () => {
  const all = (await git(dir, "log", "--format=%ad", "--date=format:%Y-%m-%d %u %H")).split("\n").toSorted();
  const [since, until] = [all[20]!.slice(0, 10), all[100]!.slice(0, 10)];
  const expected = all.filter((line) => line.slice(0, 10) >= since && line.slice(0, 10) <= until);
  const client = clientOf(repository);
  const byDay = await client.activity({ ref: "main", since, until, per: "day" });
  const days = Map.groupBy(expected, (line) => line.slice(0, 10));
  expect(byDay.total).toBe(expected.length);
  expect(byDay.periods).toEqual([...days].map(([start, lines]) => ({ start, commits: lines.length })));
  const hours = Array.from({ length: 7 }, (_, day) =>
    Array.from({ length: 24 }, (_, hour) => {
      const end = ` ${day + 1} ${String(hour).padStart(2, "0")}`;
      return expected.filter((line) => line.endsWith(end)).length;
    }),
  );
  expect(byDay.hours).toEqual(hours);
  const byWeek = await client.activity({ ref: "main", since, until, per: "week" });
  const weeks = Map.groupBy(byDay.periods, ({ start }) => {
    const day = new Date(start);
    return new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10);
  });
  expect(byWeek.periods).toEqual(
    [...weeks].map(([start, some]) => ({ start, commits: some.reduce((sum, { commits }) => sum + commits, 0) })),
  );
});

test("whatever is pushed counts at once, with or without the job; what is taken back does not", async () => {
  const own = new PushedRepository();
  await own.pushFrom(dir, { "refs/heads/main": "main~30", "refs/tags/v1": "main~40" });
  const client = clientOf(own);
  const expectSame = async (revision: string): Promise<void> => {
    // The current mailmap of HEAD applies.
    await git(dir, "update-ref", "refs/heads/now", revision);
    await git(dir, "symbolic-ref", "HEAD", "refs/heads/now");
    expect(await listContributors(client, "main")).toBe(await listByGit(dir, revision));
  };
  await expectSame("main~30");
  const noted = () => [...openAuthored(own.sql).all()].length;
  const before = noted();
  await own.pushFrom(dir, { "refs/heads/main": "main" });
  expect(noted()).toBe(before);
  own.repository.state.jobs.add("tally", "", 0);
  await housekeep(own, Date.now());
  const after = Number(await git(dir, "rev-list", "--count", "main"));
  expect([noted(), own.tables.authors.missing().length]).toEqual([after, 0]);
  await expectSame("main");
  await own.pushFrom(dir, { "refs/heads/main": "main~90" });
  await expectSame("main~90");
  await git(dir, "symbolic-ref", "HEAD", "refs/heads/main");
});

test("a crash between push and job loses nothing", async () => {
  const first = new PushedRepository();
  await first.pushFrom(dir, { "refs/heads/main": "main" });
  const second = new PushedRepository({ sql: first.sql, chunks: first.chunks });
  expect(await listContributors(clientOf(second), "main")).toBe(await listByGit(dir, "main"));
  // What one object recorded, the next reads back.
  const third = new PushedRepository({ sql: first.sql, chunks: first.chunks });
  expect(third.tables.authors.missing()).toEqual(new Uint32Array());
  expect(await listContributors(clientOf(third), "main~3")).toBe(await listByGit(dir, "main~3"));
});

test("a job that was cut off goes on where it ended, beside a request that does the same", async () => {
  const own = new PushedRepository();
  await own.pushFrom(dir, { "refs/heads/main": "main" });
  const client = clientOf(own);
  own.repository.state.jobs.add("tally", "", 0);
  const [asked, again] = await Promise.all([
    listContributors(client, "main"),
    client.activity({ ref: "main", since: "2020-01-01", until: "2024-01-01", per: "week" }),
    housekeep(own, Date.now()),
  ]);
  expect(asked).toBe(await listByGit(dir, "main"));
  expect(again.total).toBe(Number(await git(dir, "rev-list", "--count", "main")));
});

test("what is pruned is forgotten", async () => {
  const own = new PushedRepository({ limits: { pruneGraceMs: 0, minBundleBytes: Number.MAX_SAFE_INTEGER } });
  await appendHistory(dir, [{ author: "Gone <gone@x>", date: "1600000000 +0000" }], "refs/heads/gone", "main");
  await own.pushFrom(dir, { "refs/heads/main": "main", "refs/heads/gone": "gone" });
  await listContributors(clientOf(own), "gone");
  await own.pushFrom(dir, { "refs/heads/gone": null });
  await housekeep(own, Date.now() + 2 * 60 * 60_000);
  const count = Number(await git(dir, "rev-list", "--count", "main"));
  expect([...openAuthored(own.sql).all()].length).toBe(count);
  expect(await listContributors(clientOf(own), "main")).toBe(await listByGit(dir, "main"));
});
