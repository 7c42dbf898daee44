import assert from "node:assert/strict";
import { beforeAll, describe, expect, test } from "vitest";
import { Random } from "../../harness/random.ts";
import {
  assemblePack,
  copy,
  encodeDelta,
  makeObject,
  makeTree,
  type MadeObject,
  packOf,
  refDelta,
} from "../../harness/pack-builder.ts";
import { encodeEntry } from "../../harness/raw.ts";
import { packMany } from "../../object/many-objects.ts";
import { toHex } from "../../../src/base/format/oid.ts";
import { expectAsGit } from "./git-index.ts";
import { type Feeding, type Indexed, indexPack, MemoryPages } from "./indexed-pack.ts";
import { makeChain, makeSamplePacks, type SamplePack } from "./packs.ts";

let samples: SamplePack[];
beforeAll(async () => {
  samples = await makeSamplePacks();
});

/** The results that must not depend on how the pack was fed. */
function outcome({ entries, end, edges }: Indexed): unknown {
  return { entries, end, edges: [...edges] };
}

describe("what git says", () => {
  test("of every entry of a thin pack: id, type, size, offset and base", async () => {
    const thin = samples.filter(({ name }) => name.startsWith("a thin pack with"));
    expect(thin).toHaveLength(2);
    for (const sample of thin) await expectAsGit(sample);
  });

  test("of every entry: id, type, size, offset and base", { tags: "sweep" }, async () => {
    for (const sample of samples) await expectAsGit(sample);
  });
});

describe("the outcome does not depend on", () => {
  const rhythms = [1, 7, 4_096, 65_536, 1_000_000_000];

  function expectSame(variants: (sample: SamplePack) => Feeding[]): void {
    for (const sample of samples) {
      const expected = outcome(indexPack(sample.pack, { stored: sample.stored }));
      for (const feeding of variants(sample)) {
        const indexed = indexPack(sample.pack, { stored: sample.stored, ...feeding });
        assert.deepEqual(outcome(indexed), expected, `${sample.name} ${JSON.stringify(feeding)}`);
      }
    }
  }

  test("how large the pieces are", { tags: "sweep" }, () => {
    expectSame(({ isSmall }) =>
      rhythms.filter((bytes) => isSmall || bytes > 1_000).map((pieceBytes) => ({ pieceBytes })),
    );
  });

  test("what stays in memory", { tags: "sweep" }, () => {
    const random = new Random(11);
    expectSame(({ isSmall }) => [
      { ringBytes: 65_536 },
      { ringBytes: 65_536, isResident: () => false },
      { ringBytes: 65_536, isResident: () => random.below(3) > 0 },
      { isResident: () => false },
      { ringBytes: 65_536, isResident: () => random.below(3) > 0, pieceBytes: isSmall ? 7 : 4_096 },
      { ringBytes: 8_192, isResident: () => random.below(2) > 0, pieceBytes: 4_096 },
    ]);
  });
});

describe("memory", () => {
  test("deltas that come round a small ring again and again take no more of it", { tags: "sweep" }, () => {
    const random = new Random(3);
    const roots = Array.from({ length: 8 }, () => makeObject("blob", random.bytes(12_000)));
    const rounds = (length: number): Buffer => {
      const chains = roots.map((root) => makeChain(length, "ref", root));
      return assemblePack(Array.from({ length: length + 1 }, (_, i) => chains.map((chain) => chain[i]!)).flat());
    };
    const few = indexPack(rounds(20), { ringBytes: 65_536, isResident: () => false });
    const many = indexPack(rounds(400), { ringBytes: 65_536, isResident: () => false });
    expect(many.entries.length).toBe(3_208);
    // Twenty times the deltas: only what is kept for each entry and id grows, below 200 bytes.
    expect(many.memoryBytes - few.memoryBytes).toBeLessThan(3_208 * 200 + 65_536 * 16);
    expect(many.memoryBytes).toBeLessThan(8 * 1024 * 1024);
  });

  test("a blob of 40 MB that streams past is never held", { tags: "sweep" }, () => {
    const pack = assemblePack([encodeEntry(makeObject("blob", Buffer.alloc(40_000_000, "x".repeat(999))))]);
    expect(indexPack(pack).memoryBytes).toBeLessThan(8 * 1024 * 1024);
  });

  /** A directory of 6,000 files, and versions of it that each lack one, as deltas of a few
   * bytes. */
  function directoryVersions(count: number): Buffer {
    const blob = makeObject("blob", "");
    const tree = makeTree(
      ...Array.from({ length: 6_000 }, (_, i) => ["100644", String(i).padStart(6, "0"), blob] as const),
    );
    const size = tree.content.length;
    const row = size / 6_000;
    const versions = Array.from({ length: count }, (_, i) => {
      const at = ((i * 7_919) % 5_998) * row + row;
      return encodeEntry(
        refDelta(tree.oid, encodeDelta(size, size - row, copy(0, at), copy(at + row, size - at - row))),
      );
    });
    return assemblePack([encodeEntry(blob), encodeEntry(tree), ...versions]);
  }

  test("what the versions of a directory name is kept once", { tags: "sweep" }, () => {
    const pack = directoryVersions(400);
    const indexed = indexPack(pack);
    const named = [...indexed.edges.values()].reduce((sum, edges) => sum + edges.length, 0);
    expect(named).toBe(6_000 + 400 * 5_999);
    expect(new Set([...indexed.edges.values()].flat()).size).toBe(1);
    // Four bytes for each time would be 9.6 MB.
    expect(indexed.memoryBytes).toBeLessThan(6 * 1024 * 1024);
    expect(() => indexPack(pack, { limits: { maxPackReferences: 1_000_000 } })).toThrow(
      /references in a pack exceeds the limit of 1000000/,
    );
  });

  test("the tables of a pack take little memory, whatever fills them, and lose nothing", { tags: "sweep" }, () => {
    const random = new Random(9);
    const ids = (count: number): MadeObject =>
      makeTree(
        ...Array.from(
          { length: count },
          (_, i) => ["100644", `file-${String(i).padStart(6, "0")}`, toHex(random.bytes(20))] as const,
        ),
      );
    const many = packMany(Array.from({ length: 20_000 }, (_, i) => makeObject("blob", String(i))));
    const chains = assemblePack(makeChain(5_000, "ref").reverse());
    for (const pack of [packOf(ids(30_000)), many, chains]) {
      const pages = new MemoryPages();
      const little = indexPack(pack, { limits: { maxIndexBytes: 700_000 }, pages });
      const whole = indexPack(pack);
      expect({ ...little, memoryBytes: 0 }).toEqual({ ...whole, memoryBytes: 0 });
      expect([pages.puts > 10, pages.gets > 10]).toEqual([true, true]);
      expect(little.memoryBytes).toBeLessThanOrEqual(whole.memoryBytes);
    }
  });

  test("a header that claims many entries takes memory for those that come", () => {
    const pack = assemblePack([encodeEntry(makeObject("blob", "one"))], { count: 400_000 });
    let grown = 0;
    expect(() => {
      grown = indexPack(pack).memoryBytes;
    }).toThrow();
    expect(grown).toBe(0);
  });
});
