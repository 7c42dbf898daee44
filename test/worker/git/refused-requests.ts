/** Requests of protocol v2 that are refused, and git's words for it. In place of ids stand names,
 * which `resolve` of the test replaces. */

/** The id of no object. */
export const UNKNOWN = "1234567890123456789012345678901234567890";

/** @param lines long lists as arrays: arguments go onto the stack */
export const fetchLines = (...lines: (string | string[])[]): string[] => [
  "command=fetch",
  "agent=test",
  "object-format=sha1",
  "delim",
  ...lines.flat(),
  "flush",
];
export const infoLines = (...lines: string[]): string[] => ["command=object-info", "delim", ...lines, "flush"];
export const listLines = (...lines: string[]): string[] => ["command=ls-refs", "delim", ...lines, "flush"];

type Refused = [what: string, lines: string[], message: string];
export const REFUSED: Refused[] = [
  ["an unknown want", fetchLines(`want ${UNKNOWN}`, "done"), `upload-pack: not our ref ${UNKNOWN}`],
  ["a want that is no id", fetchLines("want x", "done"), "expected an object id, got 'x'"],
  ["a have that is no id", fetchLines("want main", "have x"), "expected an object id"],
  ["an unknown argument", fetchLines("want main", "hello", "done"), "unexpected line: 'hello'"],
  ["an unknown ref", fetchLines("want-ref refs/heads/none", "done"), "unknown ref refs/heads/none"],
  ["a name that no ref can have", fetchLines("want-ref refs/heads/a..b", "done"), "unknown ref refs/heads/a..b"],
  ["a name too long for a ref", fetchLines(`want-ref refs/${"x".repeat(2_000)}`, "done"), "unknown ref refs/xxx"],
  [
    "a ref wanted twice",
    fetchLines("want-ref refs/heads/main", "want-ref refs/heads/main", "done"),
    "duplicate want-ref refs/heads/main",
  ],
  ...["-1", "0", "", "x", "1x", "2147483648", "99999999999999999999"].map((depth): Refused => [
    `a depth of '${depth}'`,
    fetchLines("want main", `deepen ${depth}`, "done"),
    `invalid deepen: deepen ${depth}`,
  ]),
  ...["-1", "", "x", "18446744073709551615"].map((date): Refused => [
    `the date '${date}'`,
    fetchLines("want main", `deepen-since ${date}`, "done"),
    `invalid deepen-since: deepen-since ${date}`,
  ]),
  ["deepen-not of no ref", fetchLines("want main", "deepen-not none", "done"), "deepen-not is not a ref"],
  [
    "deepen-not of a name too long for a ref",
    fetchLines("want main", `deepen-not ${"x".repeat(2_000)}`, "done"),
    "deepen-not is not a ref",
  ],
  [
    "two ways to deepen",
    fetchLines("want main", "deepen-not side-3", "deepen 1", "done"),
    "deepen and deepen-since (or deepen-not) cannot be used together",
  ],
  [
    "more refs to deepen up to than are looked up",
    fetchLines("want main", ...Array.from({ length: 1_001 }, () => "deepen-not main"), "done"),
    "more than 1000 deepen-not lines",
  ],
  ["a shallow commit that is no id", fetchLines("want main", "shallow x", "done"), "invalid shallow line: shallow x"],
  ["a filter that is none", fetchLines("want main", "filter blob", "done"), "invalid filter-spec 'blob'"],
  ["a filter by a path", fetchLines("want main", "filter sparse:path=x", "done"), "sparse:path"],
  [
    "a filter of a size beyond 64 bits",
    fetchLines("want main", "filter blob:limit=18446744073709551616", "done"),
    "invalid filter-spec 'blob:limit=18446744073709551616'",
  ],
  [
    "9,000 filters combined",
    fetchLines("want main", `filter combine:${Array.from({ length: 9_000 }, () => "tree:1").join("+")}`, "done"),
    "filter",
  ],
  [
    "two filters",
    fetchLines("want main", "filter blob:none", "filter tree:1", "done"),
    "multiple filter-specs cannot be combined",
  ],
  ["NUL", fetchLines("want main", "thin-pack\0", "done"), "NUL in a line"],
  ["an unknown command", ["command=hello", "flush"], "invalid command 'hello'"],
  ["two commands", ["command=fetch", "command=ls-refs", "flush"], "after already requesting command 'fetch'"],
  ["no command", ["agent=test", "flush"], "no command requested"],
  ["an unknown capability", ["command=ls-refs", "session-id=x", "flush"], "unknown capability 'session-id=x'"],
  ["another object format", ["command=ls-refs", "object-format=sha256", "flush"], "mismatched object format"],
  ["object-info of what is no id", infoLines("oid x"), "object-info: protocol error, expected to get oid, not 'x'"],
  ["an unknown argument of object-info", infoLines("type"), "object-info: unexpected line: 'type'"],
  ["an unknown argument of ls-refs", listLines("hello"), "unexpected line: 'hello'"],
  [
    "an argument of bundle-uri",
    ["command=bundle-uri", "delim", "hello", "flush"],
    "bundle-uri: unexpected argument: 'hello'",
  ],
  ["a line as long as a packet", listLines("x".repeat(65_000)), "unexpected line"],
];

/** The same, in requests of megabytes. */
export const LARGE_REFUSED: Refused[] = [
  [
    "more wanted refs than there may be wants",
    fetchLines(
      Array.from({ length: 350_001 }, (_, i) => `want-ref refs/${i}`),
      "done",
    ),
    "more than 350000 wanted refs",
  ],
  [
    "more names of wanted refs than go into one call",
    fetchLines(...Array.from({ length: 9_000 }, (_, i) => `want-ref refs/${`${i}`.padStart(1_000, "x")}`), "done"),
    "more than 8388608 bytes of wanted refs",
  ],
  [
    "more shallow commits than there may be",
    fetchLines(...Array.from({ length: 100_001 }, () => `shallow ${UNKNOWN}`), "done"),
    "more than 100000 object ids",
  ],
];
