import { expect, test } from "vitest";
import { fromByteString, toByteString } from "../../../src/base/format/byte-string.ts";
import { encodePkt, FLUSH_PKT } from "../../../src/base/format/pkt-line.ts";
import {
  encodeSideBand,
  PACK_BAND,
  PROGRESS_BAND,
  SIDE_BAND_64K_DATA_BYTES,
  SIDE_BAND_DATA_BYTES,
  SideBandFramer,
} from "../../../src/base/format/side-band.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { DELIM_PKT, decodePkts, decodeSideBand } from "../../harness/pkt-decoder.ts";

/** The data of one band, packet by packet. */
function bandData(framed: Uint8Array, wanted: number): Uint8Array[] {
  return [...decodePkts(framed)].map((pkt) => {
    if (pkt.type !== "data") throw new Error(`unexpected ${pkt.type}`);
    const { band, data } = decodeSideBand(pkt.payload);
    expect(band).toBe(wanted);
    return data;
  });
}

function frameAll(framer: SideBandFramer, pieces: readonly Uint8Array[]): Uint8Array[] {
  const buffers = pieces.flatMap((piece) => [...framer.frame(piece)]);
  const last = framer.flush();
  return last === null ? buffers : [...buffers, last];
}

test("the constants are those of gitprotocol-pack(5)", () => {
  expect(SIDE_BAND_64K_DATA_BYTES).toBe(65_515);
  expect(SIDE_BAND_DATA_BYTES).toBe(995);
});

test("a message goes into as few packets as it needs", () => {
  const progress = fromByteString("Resolving deltas\r");
  expect(Buffer.concat([...encodeSideBand(PROGRESS_BAND, progress)]).toString("latin1")).toBe(
    "0016\x02Resolving deltas\r",
  );
  const packets = [...encodeSideBand(PROGRESS_BAND, new Uint8Array(2_000), SIDE_BAND_DATA_BYTES)];
  expect(packets.map((packet) => packet.length)).toEqual([1_000, 1_000, 15]);
});

test("an unknown band is refused", () => {
  for (const payload of [Uint8Array.of(), Uint8Array.of(0), Uint8Array.of(4, 1)]) {
    expect(() => decodeSideBand(payload)).toThrow(expect.objectContaining({ code: "bad-request" }));
  }
});

test.each([SIDE_BAND_64K_DATA_BYTES, SIDE_BAND_DATA_BYTES])(
  "a stream of any pieces becomes full packets of %d bytes in buffers of about 512 KB",
  (maxDataBytes) => {
    const random = new Random(7);
    for (const largestPieceBytes of [10, 5_000, 70_000, 3_000_000]) {
      const pieces = Array.from({ length: 200 }, () => random.below(largestPieceBytes))
        .slice(0, largestPieceBytes > 1_000_000 ? 3 : 200)
        .map((length, index) => new Uint8Array(length).fill(index));
      const stream = Buffer.concat(pieces);
      const buffers = frameAll(new SideBandFramer(PACK_BAND, maxDataBytes), pieces);
      const packets = bandData(new Uint8Array(Buffer.concat(buffers)), PACK_BAND);
      expect(Buffer.concat(packets).equals(stream)).toBe(true);
      expect(packets.slice(0, -1).every((data) => data.length === maxDataBytes)).toBe(true);
      expect(buffers.slice(0, -1).every(({ length }) => length > 520_000 && length <= 524_160)).toBe(true);
    }
  },
);

test("an empty stream, or one flushed twice, frames nothing", () => {
  const framer = new SideBandFramer();
  expect(framer.flush()).toBeNull();
  expect([...framer.frame(new Uint8Array(0))]).toEqual([]);
  expect(framer.flush()).toBeNull();
  expect([...framer.frame(Uint8Array.of(9))]).toEqual([]);
  expect(framer.flush()).toEqual(fromByteString("0006\x01\x09"));
  expect(framer.flush()).toBeNull();
});

test("reads a pack out of git's own multiplexed response", async () => {
  const dir = await makeRepository("multiplexed");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "one");
  const tip = await git(dir, "rev-parse", "HEAD");
  const request = [encodePkt("command=fetch\n"), DELIM_PKT, encodePkt(`want ${tip}\n`), encodePkt("done\n"), FLUSH_PKT];
  const { stdoutBytes } = await tryGit(dir, ["upload-pack", "--stateless-rpc", "."], {
    stdin: Buffer.concat(request),
    env: { GIT_PROTOCOL: "version=2" },
  });
  const packets = [...decodePkts(stdoutBytes)].slice(1).flatMap((pkt) => (pkt.type === "data" ? [pkt.payload] : []));
  const pack = packets.map(decodeSideBand).filter(({ band }) => band === PACK_BAND);
  expect(toByteString(pack[0]!.data.subarray(0, 4))).toBe("PACK");
  const { code } = await tryGit(dir, ["index-pack", "--stdin"], { stdin: Buffer.concat(pack.map(({ data }) => data)) });
  expect(code).toBe(0);
});
