import { describe, expect, test } from "vitest";
import { OID_BYTES } from "../../../../src/base/format/oid.ts";
import type { RefOutcome } from "../../../../src/object/store/refs/ref-changes.ts";
import type { RefColumns } from "../../../../src/contract/refs.ts";
import { RefStore } from "../../../../src/object/store/refs/refs.ts";
import { withDatabase } from "../database.ts";
import { Random } from "../../../harness/random.ts";

const oid = (byte: number): Uint8Array => new Uint8Array(OID_BYTES).fill(byte);
const OK = { kind: "ok" };

/** Changes one ref. */
function swap(refs: RefStore, name: string, ...rest: Rest): RefOutcome {
  const changes = refs.change([name]);
  const outcome = changes.compareAndSwap(name, ...rest);
  changes.write();
  return outcome;
}

type Rest = [expected: Uint8Array | null, oid: Uint8Array | null, peeled: Uint8Array | null];

function create(refs: RefStore, ...names: string[]): void {
  for (const name of names) expect(swap(refs, name, null, oid(1), null)).toEqual(OK);
}

test("a repository without refs lists none and has no HEAD", () =>
  withDatabase((sql) => {
    const refs = new RefStore(sql);
    const none: RefColumns = { names: [], oids: new Uint8Array(0), peeled: new Uint8Array(0) };
    expect(refs.all()).toEqual(none);
    expect(refs.withPrefixes([])).toEqual(none);
    expect(refs.withPrefixes(["refs/"])).toEqual(none);
    expect(refs.head()).toBeNull();
    expect(refs.get("refs/heads/main")).toBeNull();
  }));

test("a ref is created, moved and deleted only from its expected value", () =>
  withDatabase((sql) => {
    const refs = new RefStore(sql);
    const move = (expected: Uint8Array | null, next: Uint8Array | null) =>
      swap(refs, "refs/heads/main", expected, next, null);
    expect(move(oid(1), oid(2))).toEqual({ kind: "stale", actual: null });
    expect(move(oid(1), null)).toEqual({ kind: "stale", actual: null });
    expect(move(null, oid(1))).toEqual(OK);
    expect(move(null, oid(2))).toEqual({ kind: "stale", actual: oid(1) });
    expect(move(oid(2), oid(3))).toEqual({ kind: "stale", actual: oid(1) });
    expect(move(oid(2), null)).toEqual({ kind: "stale", actual: oid(1) });
    expect(refs.get("refs/heads/main")).toEqual({ name: "refs/heads/main", oid: oid(1), peeled: null });
    expect(move(oid(1), oid(2))).toEqual(OK);
    expect(move(oid(2), null)).toEqual(OK);
    expect(refs.get("refs/heads/main")).toBeNull();
    expect(refs.all().names).toEqual([]);
  }));

test("an annotated tag keeps what it leads to, and loses it when the ref moves to a commit", () =>
  withDatabase((sql) => {
    const refs = new RefStore(sql);
    create(refs, "refs/heads/main");
    expect(swap(refs, "refs/tags/v1", null, oid(7), oid(8))).toEqual(OK);
    expect(refs.all()).toEqual({
      names: ["refs/heads/main", "refs/tags/v1"],
      oids: new Uint8Array([...oid(1), ...oid(7)]),
      peeled: new Uint8Array([...oid(0), ...oid(8)]),
    });
    swap(refs, "refs/tags/v1", oid(7), oid(9), null);
    expect(refs.get("refs/tags/v1")).toEqual({ name: "refs/tags/v1", oid: oid(9), peeled: null });
  }));

test("HEAD points where it is told, at a ref that is there or not, and is no ref itself", () =>
  withDatabase((sql) => {
    const refs = new RefStore(sql);
    refs.setHead("refs/heads/main");
    expect(refs.head()).toBe("refs/heads/main");
    expect(refs.all().names).toEqual([]);
    expect(refs.get("HEAD")).toBeNull();
    refs.setHead("refs/heads/other");
    expect(refs.head()).toBe("refs/heads/other");
  }));

test("changes of one batch meet one another as if they came one by one", () =>
  withDatabase((sql) => {
    const random = new Random(7);
    const names = ["a", "a/b", "a/b/c", "a/d", "b", "b/a", "c\xff", "c\xff/d"].map((name) => `refs/heads/${name}`);
    const [batched, single] = [new RefStore(sql), new Map<string, Uint8Array>()];
    for (let round = 0; round < 300; round++) {
      const chosen = random.shuffled(names).slice(0, 1 + random.below(names.length));
      const changes = batched.change(chosen);
      for (const name of chosen) {
        const actual = single.get(name) ?? null;
        const isStale = random.below(8) === 0;
        const next = random.below(2) === 0 ? null : oid(1 + random.below(200));
        const outcome = changes.compareAndSwap(name, isStale ? oid(255) : actual, next, null);
        const isInTheWay = (other: string): boolean => other.startsWith(`${name}/`) || name.startsWith(`${other}/`);
        if (isStale) expect(outcome).toEqual({ kind: "stale", actual });
        else if (next !== null && actual === null && [...single.keys()].some(isInTheWay)) {
          expect(outcome.kind).toBe("conflict");
          expect(isInTheWay((outcome as { with: string }).with)).toBe(true);
          expect(single.has((outcome as { with: string }).with)).toBe(true);
        } else {
          expect(outcome).toEqual(OK);
          if (next === null) single.delete(name);
          else single.set(name, next);
        }
        expect(changes.get(name)).toEqual(single.get(name) ?? null);
      }
      changes.write();
      expect(batched.all().names).toEqual([...single.keys()].sort((x, y) => (x < y ? -1 : 1)));
      for (const [name, value] of single) expect(batched.get(name)!.oid).toEqual(value);
    }
  }));

describe("a name cannot be a directory as well", () => {
  test.each([
    ["refs/heads/a", "refs/heads/a/b"],
    ["refs/heads/a", "refs/heads/a/b/c"],
    ["refs/heads/a/b/c", "refs/heads/a/b"],
    ["refs/heads/a/b/c", "refs/heads/a"],
    ["refs/heads/\xff", "refs/heads/\xff/x"],
    ["refs/heads/a/\xff\xff", "refs/heads/a"],
  ])("%s, then %s", (first, second) =>
    withDatabase((sql) => {
      const refs = new RefStore(sql);
      create(refs, first);
      expect(swap(refs, second, null, oid(2), null)).toEqual({ kind: "conflict", with: first });
      expect(refs.all().names).toEqual([first]);
      expect(swap(refs, first, oid(1), null, null)).toEqual(OK);
      create(refs, second);
    }),
  );

  test("neighbours in the order of bytes are no conflict", () =>
    withDatabase((sql) => {
      const refs = new RefStore(sql);
      create(
        refs,
        "refs/heads/a",
        "refs/heads/a-b",
        "refs/heads/a.b",
        "refs/heads/a0",
        "refs/heads/ab/c",
        "refs/heads/A/b",
      );
    }));

  test("inside one transaction the later ref meets the earlier one, and a failure takes both back", () =>
    withDatabase((sql, transactor) => {
      const refs = new RefStore(sql);
      const push = () => {
        create(refs, "refs/heads/a");
        expect(swap(refs, "refs/heads/a/b", null, oid(1), null).kind).toBe("conflict");
        throw new Error("take it back");
      };
      expect(() => transactor.transactionSync(push)).toThrow("take it back");
      expect(refs.all().names).toEqual([]);
    }));
});

test("names are bytes: they come back, and sort, as bytes", () =>
  withDatabase((sql) => {
    const refs = new RefStore(sql);
    const names = [
      "refs/heads/!",
      "refs/heads/Z",
      "refs/heads/a",
      "refs/heads/a'b\"",
      "refs/heads/\x80",
      "refs/heads/\xc3\xa9",
      "refs/heads/\xff",
    ];
    create(refs, ...new Random(1).shuffled(names));
    expect(refs.all().names).toEqual(names);
    for (const name of names) expect(refs.get(name)?.name).toBe(name);
    expect(refs.withPrefixes(["refs/heads/\xff"]).names).toEqual(["refs/heads/\xff"]);
  }));

// A page holds 976 refs.
test.each([975, 976, 977, 1952])("%i refs are listed, each once", (count) =>
  withDatabase((sql) => {
    const refs = new RefStore(sql);
    // Names that are prefixes of one another, so that a page may end among them.
    const names = Array.from({ length: count }, (_, i) => `refs/tags/${"x".repeat(i % 50)}-${i}`);
    for (const [i, name] of names.entries()) swap(refs, name, null, oid(i % 256), i % 3 === 0 ? oid(3) : null);
    const { names: listed, oids, peeled } = refs.all();
    expect(listed).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)));
    listed.forEach((name, k) => {
      const i = names.indexOf(name);
      expect(oids[k * OID_BYTES]).toBe(i % 256);
      expect(peeled[k * OID_BYTES]).toBe(i % 3 === 0 ? 3 : 0);
    });
  }),
);

test("prefixes: overlapping, exact, unknown, few and many", () =>
  withDatabase((sql) => {
    const refs = new RefStore(sql);
    const random = new Random(3);
    const names = Array.from(
      { length: 500 },
      (_, i) => `refs/${random.below(2) > 0 ? "heads" : "tags"}/${random.below(900)}-${i}`,
    );
    create(refs, ...names);
    const check = (prefixes: string[]) => {
      const expected = names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix))).sort();
      const listed = refs.withPrefixes(prefixes);
      expect(listed.names).toEqual(expected);
      expect(listed.oids).toHaveLength(expected.length * OID_BYTES);
      expect(listed.peeled).toHaveLength(expected.length * OID_BYTES);
    };
    check(["refs/heads/", "refs/heads/1", "refs/heads/"]);
    check(["refs/tags/2", names[0]!, "refs/nothing/"]);
    check([""]);
    check(Array.from({ length: 20 }, () => `refs/heads/${random.below(100)}`));
    check(Array.from({ length: 200 }, () => `refs/${random.below(2) > 0 ? "heads" : "tags"}/${random.below(300)}`));
  }));

test("30,000 refs, 60,000 prefixes", { tags: "sweep" }, () =>
  withDatabase((sql, transactor) => {
    const refs = new RefStore(sql);
    transactor.transactionSync(() => {
      const names = Array.from({ length: 30_000 }, (_, i) => `refs/pull/${i}/head`);
      const changes = refs.change(names);
      for (const [i, name] of names.entries()) changes.compareAndSwap(name, null, oid(i % 256), null);
      changes.write();
    });
    expect(refs.all().names).toHaveLength(30_000);
    expect(refs.withPrefixes(["refs/pull/123"]).names).toHaveLength(111);
    expect(refs.withPrefixes(Array.from({ length: 60_000 }, (_, i) => `refs/pull/${i}/`)).names).toHaveLength(30_000);
  }),
);
