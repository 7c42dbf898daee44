import { deepEqual, ok } from "node:assert/strict";
import { parseAttributes, TreeAttributes } from "../../src/base/format/attributes.ts";
import { decodeBundleHeader, encodeBundleHeader } from "../../src/base/format/bundle.ts";
import { fromByteString, toByteString } from "../../src/base/format/byte-string.ts";
import { encodeCommit, parseCommit } from "../../src/base/format/commit.ts";
import { isGitError } from "../../src/base/format/errors.ts";
import { parseFilter } from "../../src/base/format/filter.ts";
import { encodeIdent, parseIdent } from "../../src/base/format/ident.ts";
import { StepBudget } from "../../src/base/format/step-budget.ts";
import { ByteReader, encodePkt, type Pkt } from "../../src/base/format/pkt-line.ts";
import { encodeSideBand, SideBandFramer } from "../../src/base/format/side-band.ts";
import { parseSparsePatterns } from "../../src/base/format/sparse-patterns.ts";
import { encodeTag, parseTag } from "../../src/base/format/tag.ts";
import { encodeTree, parseTree } from "../../src/base/format/tree.ts";
import { checkObject, type Subject } from "../base/codec/fsck-module.ts";
import type { Random } from "../harness/random.ts";
import type { FuzzTarget } from "./fuzz-target.ts";
import { damaged, inPieces, someOid, somePicks } from "./mutations.ts";
import { decodePkts, decodeSideBand } from "../harness/pkt-decoder.ts";

const WORDS = ["want ", "have ", "0000", "done", "fff0", " ", "\n", "\0", "x", "refs/heads/main"];
const PERSONS = ["A B <a@b>", "A <>", "<a@b>", "A<a>", "A > <a>", "A <a", "A <a<b>", "A", " <a> \t", "é <é@é>"];
const DATES = [
  " 1700000000 +0100",
  " 0 -0000",
  " 01 +0100",
  " 9223372036854775808 +0000",
  " x +0100",
  " 1 +1",
  "",
  " 5",
];
const MODES = ["100644", "100755", "120000", "40000", "160000", "0100644", "100664", "777777", ""];
const PATHS = [
  "a",
  "b",
  "/",
  "/",
  "**",
  "*",
  "?",
  "[a-c]",
  "[!x",
  "\\",
  "\\*",
  "[[:alpha:]]",
  "!",
  "#",
  " ",
  "\r",
  "é",
];

const pktLine: FuzzTarget = {
  name: "pkt-line",
  codes: ["bad-request"],
  make: (random) => {
    const pkts = Array.from({ length: random.below(8) }, () =>
      random.below(4) === 0
        ? Buffer.from(random.pick(["0000", "0001", "0002", "0003", "0004"]))
        : encodePkt(somePicks(random, WORDS, 0, random.pick([3, 300]))),
    );
    return damaged(random, Buffer.concat(pkts));
  },
  run: async (input, random) => {
    const reader = new ByteReader(inPieces(random, input));
    const read: Pkt[] = [];
    let failed = false;
    try {
      for (let pkt; (pkt = await reader.readPkt()) !== null;) read.push(pkt);
    } catch (error) {
      if (!isGitError(error, "bad-request")) throw error;
      failed = true;
    }
    // Read in pieces or whole: the same packets, and the same end.
    const decoded: Pkt[] = [];
    try {
      for (const pkt of decodePkts(input)) decoded.push(pkt);
    } finally {
      deepEqual(read, decoded);
    }
    ok(!failed, "in pieces it failed, whole it did not");
    const special = { flush: "0000", delim: "0001", "response-end": "0002" };
    const again = decoded.map((pkt) => (pkt.type === "data" ? encodePkt(pkt.payload) : Buffer.from(special[pkt.type])));
    // Except for capital digits in lengths.
    deepEqual([...decodePkts(new Uint8Array(Buffer.concat(again)))], decoded);
  },
};

const sideBand: FuzzTarget = {
  name: "side-band",
  codes: ["bad-request"],
  make: (random) => damaged(random, Buffer.concat([Buffer.from([random.below(5)]), random.bytes(random.below(2_000))])),
  run: (input, random) => {
    const { band, data } = decodeSideBand(input);
    const framer = new SideBandFramer(band);
    const buffers: Uint8Array[] = [];
    const pieces = Array.from({ length: 1 + random.below(4) }, () => data);
    for (const piece of pieces) for (const buffer of framer.frame(piece)) buffers.push(Buffer.from(buffer));
    const rest = framer.flush();
    if (rest !== null) buffers.push(rest);
    for (const framed of [Buffer.concat(buffers), Buffer.concat([...encodeSideBand(band, Buffer.concat(pieces))])]) {
      const payloads = [...decodePkts(framed)].map((pkt) => (pkt.type === "data" ? decodeSideBand(pkt.payload) : null));
      ok(payloads.every((payload) => payload?.band === band));
      deepEqual(Buffer.concat(payloads.map((payload) => payload!.data)), Buffer.concat(pieces));
    }
  },
};

const bundle: FuzzTarget = {
  name: "bundle",
  codes: ["invalid"],
  make: (random) => {
    const lines = Array.from({ length: random.below(6) }, () =>
      random.below(3) === 0
        ? `-${someOid(random)} comment`
        : `${someOid(random)} refs/${somePicks(random, PATHS, 0, 4)}`,
    );
    return damaged(random, Buffer.from(`# v2 git bundle\n${lines.join("\n")}\n\nPACK`, "latin1"));
  },
  run: (input) => {
    const { header, packOffset } = decodeBundleHeader(input);
    ok(packOffset <= input.length);
    const encoded = encodeBundleHeader(header);
    deepEqual(decodeBundleHeader(encoded), { header, packOffset: encoded.length });
  },
};

/** A parser of objects: it can parse everything that fsck accepts. */
function objectTarget(
  type: Subject,
  make: (random: Random) => string,
  parse: (content: Uint8Array) => void,
): FuzzTarget {
  return {
    name: type,
    codes: ["corrupt-object"],
    make: (random) => damaged(random, Buffer.from(make(random), "latin1")),
    run: (input) => {
      const { findings } = checkObject(type, input);
      try {
        parse(input);
      } catch (error) {
        ok(findings.length > 0, `fsck lets it pass, and it cannot be parsed: ${String(error)}`);
        throw error;
      }
    },
  };
}

/** A parsed value, encoded and parsed again, is the same. A leniently parsed value may be one that
 * is never written. */
function again<Value>(value: Value, encode: (value: Value) => Uint8Array, parse: (content: Uint8Array) => Value): void {
  let encoded: Uint8Array;
  try {
    encoded = encode(value);
  } catch (error) {
    if (isGitError(error, "bad-request")) return;
    throw error;
  }
  deepEqual(encode(parse(encoded)), encoded);
}

const someone = (random: Random): string => random.pick(PERSONS) + random.pick(DATES);

const commit = objectTarget(
  "commit",
  (random) =>
    `tree ${someOid(random)}\n${Array.from({ length: random.below(3) }, () => `parent ${someOid(random)}\n`).join("")}` +
    `author ${someone(random)}\ncommitter ${someone(random)}\n` +
    `${random.pick(["", "encoding latin1\n", "gpgsig a\n b\n c\n", " x\n", "x\n", "\0\n"])}\n${somePicks(random, WORDS, 0, 5)}`,
  (content) => again(parseCommit(content), encodeCommit, parseCommit),
);

const tag = objectTarget(
  "tag",
  (random) =>
    `object ${someOid(random)}\ntype ${random.pick(["commit", "tree", "blob", "tag", "branch", ""])}\n` +
    `tag ${somePicks(random, PATHS, 0, 3)}\n${random.below(4) === 0 ? "" : `tagger ${someone(random)}\n`}\n${random.pick(WORDS)}`,
  (content) => again(parseTag(content), encodeTag, parseTag),
);

const tree = objectTarget(
  "tree",
  (random) =>
    Array.from({ length: random.below(8) }, () => {
      const oid = Buffer.from(someOid(random), "hex").toString("latin1");
      return `${random.pick(MODES)} ${somePicks(random, PATHS, 0, 3)}\0${oid}`;
    }).join(""),
  (content) => {
    const entries = parseTree(content);
    // The order of two equal names is undefined.
    if (new Set(entries.map(({ name }) => name)).size === entries.length) again(entries, encodeTree, parseTree);
  },
);

const ident: FuzzTarget = {
  name: "ident",
  codes: ["bad-request"],
  make: (random) => damaged(random, Buffer.from(someone(random), "latin1")),
  run: (input) => {
    const parsed = parseIdent(toByteString(input));
    if (parsed === null) return;
    const encoded = encodeIdent(parsed);
    deepEqual(encodeIdent(parseIdent(encoded)!), encoded);
  },
};

const filter: FuzzTarget = {
  name: "filter",
  codes: [],
  make: (random) => {
    const kinds = [
      "blob:none",
      "blob:limit=1k",
      "tree:3",
      "sparse:oid=main",
      "object:type=tag",
      "combine:",
      "%2",
      "+",
      "%3a",
      "%2b",
    ];
    return damaged(random, Buffer.from(somePicks(random, kinds, 0, 12)));
  },
  // Returns an error or a filter; never throws.
  run: (input) => void parseFilter(toByteString(input)),
};

const sparse: FuzzTarget = {
  name: "sparse",
  codes: ["too-large"],
  make: (random) =>
    damaged(random, Buffer.from(somePicks(random, [...PATHS, "\n"], 0, random.pick([20, 2_000])), "latin1")),
  run: (input, random) => {
    const patterns = parseSparsePatterns(input);
    const budget = new StepBudget(1_000_000);
    for (let i = 0; i < 20; i++) {
      const path = somePicks(random, ["a", "b", "/", ".", "é", "*"], 1, 60).replace(/^\/+/, "");
      patterns.match(path, path.slice(path.lastIndexOf("/") + 1), i % 2 === 0, budget);
    }
  },
};

const gitattributes: FuzzTarget = {
  name: "gitattributes",
  codes: ["too-large"],
  make: (random) => {
    const words = [
      ...PATHS,
      "\n",
      "\n",
      " ",
      '"',
      "[attr]",
      "text",
      "-text",
      "!eol",
      "eol=crlf",
      "export-ignore",
      "binary",
    ];
    return damaged(random, Buffer.from(somePicks(random, words, 0, random.pick([20, 1_000])), "latin1"));
  },
  run: (input, random) => {
    checkObject("gitattributes", input);
    const attributes = new TreeAttributes();
    const budget = new StepBudget(1_000_000);
    attributes.add(random.pick(["", "a/"]), parseAttributes(input));
    for (let i = 0; i < 20; i++)
      attributes.of(somePicks(random, ["a", "b", "a/", ".", "é"], 1, 8), i % 2 === 0, budget);
  },
};

const gitmodules: FuzzTarget = {
  name: "gitmodules",
  codes: [],
  make: (random) => {
    const words = [
      '[submodule "',
      '"]\n',
      "url = ",
      "path=",
      "\n",
      "../",
      "-u",
      "!sh",
      "%0a",
      "\\",
      '"',
      "#",
      "\0",
      "http://",
      "a",
    ];
    return damaged(random, Buffer.from(somePicks(random, words, 0, random.pick([12, 500])), "latin1"));
  },
  // test/base/codec/fsck-fuzz.test.ts shows that git finds the same.
  run: (input) => void checkObject("gitmodules", input),
};

const byteString: FuzzTarget = {
  name: "byte-string",
  codes: [],
  make: (random) => random.bytes(random.below(200)),
  run: (input) => deepEqual(Buffer.from(fromByteString(toByteString(input))), Buffer.from(input)),
};

/** The inputs of `src/base/format`. */
export const FORMAT_TARGETS: readonly FuzzTarget[] = [
  pktLine,
  sideBand,
  bundle,
  commit,
  tag,
  tree,
  ident,
  filter,
  sparse,
  gitattributes,
  gitmodules,
  byteString,
];
