import { expect, test } from "vitest";
import { fromByteString } from "../../../src/base/format/byte-string.ts";
import {
  ByteReader,
  encodePkt,
  FLUSH_PKT,
  MAX_PKT_BYTES,
  type Pkt,
  pktText,
} from "../../../src/base/format/pkt-line.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { DELIM_PKT, RESPONSE_END_PKT, decodePkts } from "../../harness/pkt-decoder.ts";

const BAD_REQUEST = expect.objectContaining({ code: "bad-request" });

/** A source that delivers the body in pieces of the given sizes, in turn. */
function pullPieces(body: Uint8Array, pieceBytes: () => number): () => Promise<Uint8Array | null> {
  let at = 0;
  return async () => {
    if (at >= body.length) return null;
    const piece = body.subarray(at, (at += pieceBytes()));
    return piece;
  };
}

async function readAll(reader: ByteReader): Promise<Pkt[]> {
  const pkts: Pkt[] = [];
  for (let pkt = await reader.readPkt(); pkt !== null; pkt = await reader.readPkt()) pkts.push(pkt);
  return pkts;
}

function encode(pkt: Pkt): Uint8Array {
  switch (pkt.type) {
    case "data":
      return encodePkt(pkt.payload);
    case "flush":
      return FLUSH_PKT;
    case "delim":
      return DELIM_PKT;
    case "response-end":
      return RESPONSE_END_PKT;
  }
}

test("encodes the examples of gitprotocol-common(5)", () => {
  expect(encodePkt("a\n")).toEqual(fromByteString("0006a\n"));
  expect(encodePkt("foobar\n")).toEqual(fromByteString("000bfoobar\n"));
  expect(encodePkt("")).toEqual(fromByteString("0004"));
  expect(encodePkt(Uint8Array.of(0, 255))).toEqual(fromByteString("0006\0\xff"));
});

test("encodes up to the longest packet, and nothing longer", () => {
  const longest = encodePkt(new Uint8Array(MAX_PKT_BYTES - 4));
  expect(pktText(longest.subarray(0, 4))).toBe("fff0");
  expect(() => encodePkt(new Uint8Array(MAX_PKT_BYTES - 3))).toThrow(RangeError);
});

test("decodes every kind", () => {
  const pkts = [...decodePkts(fromByteString("0006a\n00010002000000040005b"))];
  expect(pkts.map((pkt) => (pkt.type === "data" ? pktText(pkt.payload) : pkt.type))).toEqual([
    "a",
    "delim",
    "response-end",
    "flush",
    "",
    "b",
  ]);
});

test.each([0, 2])("decodes what git says in protocol version %d, and encodes it back", async (version) => {
  const dir = await makeRepository("advertised");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "one");
  const { stdoutBytes } = await tryGit(dir, ["upload-pack", "--advertise-refs", "."], {
    env: { GIT_PROTOCOL: `version=${version}` },
  });
  const pkts = [...decodePkts(stdoutBytes)];
  expect(pkts.length).toBeGreaterThan(1);
  expect(Buffer.concat(pkts.map(encode))).toEqual(stdoutBytes);
});

test.each(["zzzz", "0003", "fff1", "fff5", "ffff", "-001", "0x10", "00 5", "000", "0005", "0009abc"])(
  "refuses the body %j",
  async (text) => {
    const body = fromByteString(text);
    expect(() => [...decodePkts(body)]).toThrow(BAD_REQUEST);
    await expect(readAll(new ByteReader(pullPieces(body, () => 1)))).rejects.toThrow(BAD_REQUEST);
  },
);

test(
  "a stream decodes as its body does, however it is cut, and random damage never hangs or escapes",
  { tags: "sweep" },
  async () => {
    const random = new Random(5);
    for (let round = 0; round < 300; round++) {
      const specials = [FLUSH_PKT, DELIM_PKT, RESPONSE_END_PKT];
      const parts = Array.from({ length: random.below(20) }, () =>
        random.below(4) === 0 ? random.pick(specials) : encodePkt(random.bytes(random.below(300))),
      );
      const body = new Uint8Array(Buffer.concat(parts));
      const damaged = body.length > 0 && random.below(3) === 0;
      if (damaged) body[random.below(body.length)] = random.below(256);
      const expected = settle(() => [...decodePkts(body)]);
      const streamed = await readAll(new ByteReader(pullPieces(body, () => random.below(60)))).catch(codeOf);
      expect(streamed).toEqual(expected);
      if (!damaged) expect(expected).toHaveLength(parts.length);
    }
  },
);

function settle(decode: () => Pkt[]): unknown {
  try {
    return decode();
  } catch (error) {
    return codeOf(error);
  }
}

function codeOf(error: unknown): unknown {
  expect(error).toMatchObject({ code: "bad-request" });
  return "bad-request";
}

test("after the packets, the raw rest is read whole, what was over-read included", async () => {
  const pack = new Random(6).bytes(10_000);
  const body = new Uint8Array(Buffer.concat([encodePkt("command\n"), FLUSH_PKT, pack]));
  for (const pieceBytes of [1, 7, 4_096, 100_000]) {
    const reader = new ByteReader(pullPieces(body, () => pieceBytes));
    expect(await reader.readPkt()).toMatchObject({ type: "data" });
    expect(await reader.readPkt()).toEqual({ type: "flush" });
    expect(reader.consumedBytes).toBe(16);
    const rest: Uint8Array[] = [];
    for (let piece = await reader.read(); piece !== null; piece = await reader.read()) rest.push(piece);
    expect(Buffer.concat(rest).equals(pack)).toBe(true);
    expect(reader.consumedBytes).toBe(body.length);
  }
});

test("reads an exact length across pieces, or refuses", async () => {
  const reader = new ByteReader(pullPieces(fromByteString("PACKxyz"), () => 3));
  expect(pktText(await reader.readExact(4))).toBe("PACK");
  await expect(reader.readExact(4)).rejects.toThrow(BAD_REQUEST);
});

test("an error of the source reaches the reader's caller", async () => {
  const reader = new ByteReader(() => Promise.reject(new Error("connection reset")));
  await expect(reader.readPkt()).rejects.toThrow("connection reset");
});
