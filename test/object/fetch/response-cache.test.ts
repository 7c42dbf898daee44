import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { FetchOutcome, FetchRequest, PackDelivery } from "../../../src/contract/fetch.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { CLONE_REQUEST } from "../clone-request.ts";
import { PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { fromHex } from "../stored-repository.ts";

let origin = "";
let main = "";
let repository: PushedRepository;

beforeAll(async () => {
  origin = await makeHistory({ commits: 150, files: 200, branches: 2, tags: 2 });
  main = await git(origin, "rev-parse", "main");
});

beforeEach(async () => {
  repository = new PushedRepository();
  await repository.pushFrom(origin, { "refs/heads/main": "main", "refs/heads/side": "side-0" });
});

function fetch(options: Partial<FetchRequest> = {}): Promise<FetchOutcome> {
  return repository.repository.fetch({ ...CLONE_REQUEST, wants: fromHex(main), framing: "test", ...options });
}

function packOf(outcome: FetchOutcome): PackDelivery {
  if (outcome.kind !== "negotiated" || outcome.pack === null) throw new Error(outcome.kind);
  return outcome.pack;
}

async function store(): Promise<Extract<PackDelivery, { kind: "store" }>> {
  expect(packOf(await fetch()).kind).toBe("plan");
  const second = packOf(await fetch());
  if (second.kind !== "store") throw new Error(second.kind);
  await repository.chunks.put(second.objectKey, new Uint8Array(1000));
  return second;
}

describe("equal requests", () => {
  test("the first is served alone, the second stores, the third is served from there", async () => {
    const { objectKey, plan } = await store();
    await repository.repository.finishResponse(objectKey, 1000);
    const expected = { kind: "stored", objectKey, sizeBytes: 1000, objectCount: plan.objectCount };
    expect(packOf(await fetch())).toEqual({ ...expected, cache: "hit" });
    // It survives a restart of the object.
    const restarted = new PushedRepository({ sql: repository.sql, chunks: repository.chunks });
    expect(
      packOf(await restarted.repository.fetch({ ...CLONE_REQUEST, wants: fromHex(main), framing: "test" })),
    ).toEqual({
      ...expected,
      cache: "hit",
    });
  });

  test("twenty at once: one is served alone, one stores, the others are told at once what to wait for", async () => {
    const all = (await Promise.all(Array.from({ length: 20 }, () => fetch()))).map(packOf);
    const kinds = all.map(({ kind }) => kind).toSorted();
    expect(kinds).toEqual([...Array.from({ length: 18 }, () => "awaited"), "plan", "store"]);
    const { objectKey, plan } = all.find((pack) => pack.kind === "store")!;
    const waiting = Array.from({ length: 18 }, () => repository.repository.awaitResponse(objectKey));
    await repository.repository.finishResponse(objectKey, 1000);
    const stored = { kind: "stored", cache: "shared", objectKey, sizeBytes: 1000, objectCount: plan.objectCount };
    // A request that comes late is answered as well.
    for (const one of [...waiting, repository.repository.awaitResponse(objectKey)]) expect(await one).toEqual(stored);
  });

  test("where nothing may be stored, each is served by itself, though they come at once", async () => {
    repository = new PushedRepository({ limits: { maxStoredResponseBytes: 0 } });
    await repository.pushFrom(origin, { "refs/heads/main": "main" });
    const packs = (await Promise.all([fetch(), fetch(), fetch()])).map(packOf);
    expect(packs.map(({ kind }) => kind)).toEqual(["plan", "plan", "plan"]);
    expect(new Set(packs.map((pack) => (pack as { plan: unknown }).plan)).size).toBe(3);
  });

  test("objects that are made whole count as such, however small the deltas are that they lie in", async () => {
    repository = new PushedRepository();
    const dir = await makeRepository("versions");
    const lines = Array.from({ length: 4000 }, (_, line) => createHash("sha1").update(`${line}`).digest("base64"));
    for (const version of ["older", "newer"]) {
      await writeFile(
        join(dir, "text"),
        `${version} version\n${lines.join("\n")}\n${version === "newer" ? "more\n" : ""}`,
      );
      await git(dir, "add", "text");
      await git(dir, "commit", "-q", "-m", version);
    }
    // Git stores the newer version whole, and the older one as a small delta on it.
    await repository.pushFrom(dir, { "refs/heads/main": "main", "refs/heads/older": "main~1" });
    const wants = fromHex(await git(dir, "rev-parse", "main~1"));
    const ask = async (): Promise<PackDelivery> =>
      packOf(await repository.repository.fetch({ ...CLONE_REQUEST, wants, framing: "test" }));
    const first = await ask();
    expect(first.kind === "plan" && first.plan.undeltified).toHaveLength(1);
    expect((await ask()).kind).toBe("store");
  });

  test("what is larger than all that may be stored is not stored", async () => {
    repository = new PushedRepository({ limits: { maxStoredResponseBytes: 100 } });
    await repository.pushFrom(origin, { "refs/heads/main": "main" });
    for (let count = 0; count < 3; count++) expect(packOf(await fetch()).kind).toBe("plan");
  });

  test("when storing fails, those who wait are served by themselves, and the next tries again", async () => {
    const { objectKey, plan } = await store();
    expect(packOf(await fetch())).toEqual({ kind: "awaited", objectKey });
    const waiting = repository.repository.awaitResponse(objectKey);
    await repository.repository.finishResponse(objectKey, null);
    expect(await waiting).toEqual({ kind: "plan", plan, responseKey: null });
    expect(await repository.repository.awaitResponse(objectKey)).toBe(null);
    expect(packOf(await fetch()).kind).toBe("store");
  });

  describe("a database that fails keeps nobody waiting", () => {
    /** Makes the next statement that contains these words fail. */
    function failOnce(words: string): void {
      const { sql } = repository;
      const exec = vi.spyOn(sql, "exec");
      exec.mockImplementation(((query, ...bindings) => {
        if (![query, ...bindings].some((part) => typeof part === "string" && part.includes(words)))
          return NodeSql.prototype.exec.call(sql, query, ...bindings);
        exec.mockRestore();
        throw new Error("database or disk is full");
      }) as typeof sql.exec);
    }

    async function expectSoon(delivery: Promise<FetchOutcome>, kind: PackDelivery["kind"]): Promise<void> {
      const startMs = Date.now();
      expect(packOf(await delivery).kind).toBe(kind);
      expect(Date.now() - startMs).toBeLessThan(5_000);
    }

    test("before storing", async () => {
      await fetch();
      failOnce("sweep");
      await expect(fetch()).rejects.toThrow("full");
      await expectSoon(fetch(), "store");
    });

    test("when it is told of what was stored", async () => {
      const { objectKey, plan } = await store();
      const waiting = repository.repository.awaitResponse(objectKey);
      failOnce("INTO responses");
      await expect(repository.repository.finishResponse(objectKey, 1000)).rejects.toThrow("full");
      expect(await waiting).toEqual({ kind: "plan", plan, responseKey: null });
    });
  });

  test("who stores and never tells keeps nobody for long", async () => {
    const { objectKey, plan } = await store();
    vi.useFakeTimers();
    try {
      await vi.advanceTimersByTimeAsync(4_000);
      const waiting = repository.repository.awaitResponse(objectKey);
      await vi.advanceTimersByTimeAsync(6_000);
      expect(await waiting).toEqual({ kind: "plan", plan, responseKey: null });
      // From then on no request waits.
      expect(packOf(await fetch())).toEqual({ kind: "plan", plan, responseKey: null });
      // A Worker that was only slow still stores its response.
      await repository.repository.finishResponse(objectKey, 1000);
      expect(packOf(await fetch())).toMatchObject({ kind: "stored", cache: "hit" });
    } finally {
      vi.useRealTimers();
    }
  });
});

test.each<[string, Partial<FetchRequest>]>([
  ["another framing", { framing: "other" }],
  ["another depth", { deepen: { kind: "depth", depth: 100 } }],
  ["a filter", { filter: { kind: "tree", depth: 9 } }],
  ["without ofs-delta", { ofsDelta: false }],
  ["with tags", { includeTag: true }],
])("%s is another response", async (_, options) => {
  const { objectKey } = await store();
  await repository.repository.finishResponse(objectKey, 1000);
  expect(packOf(await fetch(options)).kind).toBe("plan");
});

test("a small response is never stored", async () => {
  for (let round = 0; round < 3; round++) {
    expect(packOf(await fetch({ haves: fromHex(await git(origin, "rev-parse", "main~1")) })).kind).toBe("plan");
  }
});

describe("what is stored goes away", () => {
  const runJobs = async (inMs: number): Promise<void> => {
    vi.useFakeTimers({ now: Date.now() + inMs, toFake: ["Date"] });
    try {
      await repository.repository.runJobs(Date.now());
    } finally {
      vi.useRealTimers();
    }
  };

  test("after a day without use, first the row and later the bytes", async () => {
    const { objectKey } = await store();
    await repository.repository.finishResponse(objectKey, 1000);
    await runJobs(23 * 60 * 60_000);
    expect(packOf(await fetch()).kind).toBe("stored");
    await runJobs(50 * 60 * 60_000);
    expect(packOf(await fetch()).kind).not.toBe("stored");
    expect(await repository.keys()).toContain(objectKey);
    await runJobs(52 * 60 * 60_000);
    expect(await repository.keys()).not.toContain(objectKey);
  });

  test("when somebody could not read it, who will not be the last to find the bytes", async () => {
    const { objectKey } = await store();
    await repository.repository.finishResponse(objectKey, 1000);
    await repository.repository.finishResponse(objectKey, null);
    expect(packOf(await fetch()).kind).not.toBe("stored");
    await runJobs(61 * 60_000);
    expect(await repository.keys()).not.toContain(objectKey);
  });

  test("when storing it was never told of", async () => {
    const { objectKey } = await store();
    await runJobs(61 * 60_000);
    expect(await repository.keys()).not.toContain(objectKey);
  });

  test("when there is too much of it", async () => {
    const { objectKey } = await store();
    await repository.repository.finishResponse(objectKey, 600 * 1024 * 1024);
    expect(packOf(await fetch()).kind).not.toBe("stored");
  });
});
