import { beforeAll, describe, expect, test } from "vitest";
import { Random } from "../harness/random.ts";
import { git, tryGit } from "../harness/git.ts";
import {
  assemblePack,
  copy,
  encodeDelta,
  makeObject,
  makeTree,
  type MadeObject,
  packOf,
  refDelta,
} from "../harness/pack-builder.ts";
import { encodeEntry } from "../harness/raw.ts";
import { toHex } from "../../src/format/oid.ts";
import { type Feeding, type Indexed, indexPack, TRAILER_BYTES } from "./indexed-pack.ts";
import { makeChain, makeSamplePacks, type SamplePack, storeObjects } from "./packs.ts";

let samples: SamplePack[];
beforeAll(async () => {
  samples = await makeSamplePacks();
});

/** The results that must not depend on how the pack was fed. */
function outcome({ entries, end, edges }: Indexed): unknown {
  return { entries, end, edges: [...edges] };
}

/** Has git index a pack, and returns its results: type, size and content by id; offset and base of
 * each entry. Null when git is confused by an object that occurs twice. */
async function askGit({ name: sampleName, pack, stored }: SamplePack): Promise<{
  objects: Map<string, { type: string; sizeBytes: number; content: Buffer }>;
  entries: { oid: string; offset: number; base: string | null }[];
} | null> {
  const dir = await storeObjects(stored);
  const indexed = await tryGit(dir, ["index-pack", "--stdin", "--fix-thin"], { stdin: pack });
  if (/duplicate base/.test(indexed.stderr)) return null;
  expect(indexed.stderr).toBe("");
  const { stdoutBytes } = await tryGit(dir, ["cat-file", "--batch", "--batch-all-objects"]);
  const objects = new Map<string, { type: string; sizeBytes: number; content: Buffer }>();
  for (let at = 0; at < stdoutBytes.length;) {
    const end = stdoutBytes.indexOf(10, at);
    const [oid, type, size] = stdoutBytes.toString("latin1", at, end).split(" ") as [string, string, string];
    objects.set(oid, { type, sizeBytes: Number(size), content: stdoutBytes.subarray(end + 1, end + 1 + Number(size)) });
    at = end + 2 + Number(size);
  }
  const name = indexed.stdout.trim().split("\t").at(-1)!;
  const canShow = pack.readUInt32BE(8) > 0 && !sampleName.startsWith("the same object");
  const shown = !canShow ? "" : await git(dir, "verify-pack", "-v", `objects/pack/pack-${name}.idx`);
  const entries = shown
    .split("\n")
    .map((line) => /^([0-9a-f]{40}) +\w+ +\d+ \d+ (\d+)(?: \d+ ([0-9a-f]{40}))?$/.exec(line))
    .filter((match) => match !== null)
    .map(([, oid, offset, base]) => ({ oid: oid!, offset: Number(offset), base: base ?? null }))
    .filter(({ offset }) => offset < pack.length - TRAILER_BYTES)
    .sort((a, b) => a.offset - b.offset);
  return { objects, entries };
}

/** Ids that an object's content refers to, without submodules; a commit's time comes first. */
function readEdges(type: string, content: Buffer): (string | number)[] {
  const text = content.toString("latin1");
  if (type === "tag") return [text.slice(7, 47)];
  if (type === "commit") {
    const head = text.split("\n\n", 1)[0]!;
    const time = Number(/^committer .* (\d+) [+-]\d+$/m.exec(head)![1]);
    return [time, ...[...head.matchAll(/^(?:tree|parent) ([0-9a-f]{40})$/gm)].map((match) => match[1]!)];
  }
  const oids: string[] = [];
  for (let at = 0; at < content.length;) {
    const end = content.indexOf(0, at);
    if (!text.startsWith("160000", at)) oids.push(content.toString("hex", end + 1, end + 21));
    at = end + 21;
  }
  return oids;
}

describe("what git says", () => {
  test("of every entry: id, type, size, offset and base", async () => {
    for (const sample of samples) {
      const [asked, indexed] = [await askGit(sample), indexPack(sample.pack, { stored: sample.stored })];
      expect(indexed.end, sample.name).toBe(sample.pack.length - TRAILER_BYTES);
      expect(indexed.entries.length, sample.name).toBe(sample.pack.readUInt32BE(8));
      if (asked === null) continue;
      const offsets = new Map(asked.entries.map((entry) => [entry.offset, entry]));
      for (const { oid, type, sizeBytes, offset, base } of indexed.entries) {
        const { content, ...object } = asked.objects.get(oid)!;
        expect({ type, sizeBytes }, sample.name).toEqual(object);
        // For a pack that holds an object twice, verify-pack reports nothing.
        if (asked.entries.length > 0) expect(offsets.get(offset), sample.name).toEqual({ oid, offset, base });
        if (type === "blob") continue;
        expect(indexed.edges.get(oid), sample.name).toEqual(readEdges(type, content));
      }
    }
  });
});

describe("the outcome does not depend on", () => {
  const rhythms = [1, 7, 4_096, 65_536, 1_000_000_000];

  function expectSame(variants: (sample: SamplePack) => Feeding[]): void {
    for (const sample of samples) {
      const expected = outcome(indexPack(sample.pack, { stored: sample.stored }));
      for (const feeding of variants(sample)) {
        const indexed = indexPack(sample.pack, { stored: sample.stored, ...feeding });
        expect(outcome(indexed), `${sample.name} ${JSON.stringify(feeding)}`).toEqual(expected);
      }
    }
  }

  test("how large the pieces are", () => {
    expectSame(({ isSmall }) =>
      rhythms.filter((bytes) => isSmall || bytes > 1_000).map((pieceBytes) => ({ pieceBytes })),
    );
  });

  test("what stays in memory", () => {
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
  test("deltas that come round a small ring again and again take no more of it", () => {
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

  test("a blob of 40 MB that streams past is never held", () => {
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

  test("what the versions of a directory name is kept once", () => {
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

  test("the tables of a pack have a bound, whatever fills them", () => {
    const random = new Random(9);
    const ids = (count: number): MadeObject =>
      makeTree(
        ...Array.from(
          { length: count },
          (_, i) => ["100644", `file-${String(i).padStart(6, "0")}`, toHex(random.bytes(20))] as const,
        ),
      );
    const many = packOf(...Array.from({ length: 20_000 }, (_, i) => makeObject("blob", String(i))));
    const chains = assemblePack(makeChain(5_000, "ref").reverse());
    for (const pack of [packOf(ids(30_000)), many, chains]) {
      expect(() => indexPack(pack, { limits: { maxIndexBytes: 200_000 } })).toThrow(
        /index of a pack .* limit of 200000/,
      );
      indexPack(pack);
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
