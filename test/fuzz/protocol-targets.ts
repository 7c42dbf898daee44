import { ok } from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../src/base/format/configured-limits.ts";
import { ByteReader, encodePkt } from "../../src/base/format/pkt-line.ts";
import type { FetchContext } from "../../src/worker/git/fetch-context.ts";
import { readPushHead } from "../../src/object/receive/receive-pack-request.ts";
import { serveV0 } from "../../src/worker/git/upload-pack-v0.ts";
import { serveV2 } from "../../src/worker/git/upload-pack-v2.ts";
import type { FetchRequest, FetchSource, RefList } from "../../src/contract/fetch.ts";
import { MemoryChunkStore } from "../harness/memory-chunk-store.ts";
import type { Random } from "../harness/random.ts";
import { nodeCodec } from "../object/stored-repository.ts";
import type { FuzzTarget } from "./fuzz-target.ts";
import { damaged, inPieces, someOid, somePicks } from "./mutations.ts";
import { decodePkts } from "../harness/pkt-decoder.ts";

/** Lower than the defaults, so that inputs reach them. */
const LIMITS = { ...DEFAULT_LIMITS, maxWants: 20, maxHaves: 20, maxShallows: 5, maxDeepenNots: 2, maxRefsPerPush: 5 };

const NAMES = ["refs/heads/main", "refs/heads/a..b", "HEAD", "", "refs/tags/v1", "refs/heads/\xe9", "x".repeat(1_100)];
const NUMBERS = ["1", "0", "-1", "", "x", "2147483647", "2147483648", "1e9", "0x1", " 1", "18446744073709551615"];
const FILTERS = [
  "blob:none",
  "tree:0",
  "blob:limit=1k",
  "sparse:path=x",
  "combine:blob:none+tree:1",
  "object:type=x",
  "%",
];

function pkts(random: Random, lines: readonly string[]): Buffer {
  const special: Readonly<Record<string, string>> = { flush: "0000", delim: "0001", end: "0002" };
  const packets = lines.map((line) => {
    const end = random.below(3) > 0 ? "\n" : "";
    return special[line] === undefined ? encodePkt(Buffer.from(line + end, "latin1")) : Buffer.from(special[line]);
  });
  return damaged(random, Buffer.concat(packets));
}

function some(random: Random, most: number, make: () => string): string[] {
  return Array.from({ length: random.below(most + 1) }, make);
}

/** A repository of one ref, which answers every fetch as if it had nothing to send. */
const source: FetchSource = {
  refs: async (): Promise<RefList> => ({
    head: { target: "refs/heads/main", oid: new Uint8Array(20).fill(1) },
    names: ["refs/heads/main"],
    oids: new Uint8Array(20).fill(1),
    peeled: new Uint8Array(20),
  }),
  fetch: async (request: FetchRequest) => {
    ok(request.wants.length <= 20 * LIMITS.maxWants && request.haves.length <= 20 * LIMITS.maxHaves);
    ok(request.wants.length % 20 === 0 && request.haves.length % 20 === 0 && request.shallows.length % 20 === 0);
    return { kind: "refused", message: "nothing is sent" };
  },
  finishResponse: async () => undefined,
  awaitResponse: async () => null,
  sizes: async (oids) => new Float64Array(oids.length / 20).fill(-1),
  bundles: async () => [],
};

const context: FetchContext = {
  source,
  chunks: new MemoryChunkStore(),
  codec: nodeCodec,
  limits: LIMITS,
  movedTo: () => null,
  waitUntil: () => undefined,
  observe: () => undefined,
};

/** Every answer consists of complete packets. */
async function expectPackets(response: Response): Promise<void> {
  ok(response.status === 200, `status ${response.status}`);
  const body = new Uint8Array(await response.arrayBuffer());
  for (const pkt of decodePkts(body)) ok(pkt.type !== "data" || pkt.payload.length > 0);
}

const argument = (random: Random): string =>
  random.pick([
    () => `want ${someOid(random)}`,
    () => `have ${someOid(random)}`,
    () => `shallow ${someOid(random)}`,
    () => `want-ref ${random.pick(NAMES)}`,
    () => `deepen ${random.pick(NUMBERS)}`,
    () => `deepen-since ${random.pick(NUMBERS)}`,
    () => `deepen-not ${random.pick(NAMES)}`,
    () => `filter ${random.pick(FILTERS)}`,
    () => `ref-prefix ${random.pick(NAMES)}`,
    () => `oid ${someOid(random)}`,
    () =>
      random.pick([
        "done",
        "thin-pack",
        "ofs-delta",
        "peel",
        "symrefs",
        "unborn",
        "size",
        "wait-for-done",
        "sideband-all",
        "x",
      ]),
  ])();

const uploadPackV2: FuzzTarget = {
  name: "upload-pack-v2",
  codes: ["bad-request", "too-large"],
  make: (random) =>
    pkts(random, [
      `command=${random.pick(["fetch", "fetch", "fetch", "ls-refs", "object-info", "bundle-uri", "x"])}`,
      ...some(random, 2, () =>
        random.pick(["agent=x", "object-format=sha1", "server-option=x", "object-format=sha256"]),
      ),
      ...(random.below(8) === 0 ? [] : ["delim", ...some(random, random.pick([3, 3, 30]), () => argument(random))]),
      "flush",
    ]),
  run: async (input, random) => expectPackets(await serveV2(new ByteReader(inPieces(random, input)), context)),
};

const uploadPackV0: FuzzTarget = {
  name: "upload-pack-v0",
  codes: ["bad-request", "too-large"],
  make: (random) => {
    const capabilities = [
      "multi_ack_detailed",
      "no-done",
      "side-band-64k",
      "thin-pack",
      "ofs-delta",
      "agent=x",
      "filter",
      "x",
    ];
    const wants = some(random, random.pick([3, 30]), () => `want ${someOid(random)}`);
    if (wants[0] !== undefined) wants[0] += ` ${somePicks(random, capabilities, 0, 4)}`;
    const cuts = some(random, 2, () => argument(random));
    const haves = some(random, random.pick([3, 30]), () => `have ${someOid(random)}`);
    return pkts(random, [...wants, ...cuts, "flush", ...haves, random.pick(["done", "flush", "x", ""])]);
  },
  run: async (input, random) => expectPackets(await serveV0(new ByteReader(inPieces(random, input)), context)),
};

const receivePack: FuzzTarget = {
  name: "receive-pack",
  codes: ["bad-request", "too-large"],
  make: (random) => {
    const command = (): string => `${someOid(random)} ${someOid(random)} ${random.pick(NAMES)}`;
    const capabilities = somePicks(
      random,
      [" report-status", " atomic", " push-options", " object-format=sha1", " x"],
      0,
      4,
    );
    const commands = some(random, 6, () => (random.below(5) === 0 ? `shallow ${someOid(random)}` : command()));
    if (commands[0] !== undefined) commands[0] += `\0${capabilities}`;
    const options = random.below(2) === 0 ? [] : [...some(random, 2, () => "option"), "flush"];
    return Buffer.concat([pkts(random, [...commands, "flush", ...options]), Buffer.from("PACK")]);
  },
  run: async (input, random) => {
    const head = await readPushHead(new ByteReader(inPieces(random, input)), LIMITS);
    if (head === null) return;
    ok(head.commands.length > 0 && head.commands.length <= LIMITS.maxRefsPerPush);
    for (const { old, new: next } of head.commands) ok(old.length === 20 && next.length === 20);
    for (const oid of head.shallow) ok(oid.length === 20);
  },
};

/** The requests that git's clients make. */
export const PROTOCOL_TARGETS: readonly FuzzTarget[] = [uploadPackV2, uploadPackV0, receivePack];
