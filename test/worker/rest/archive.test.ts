import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { makeOddRepository } from "../../harness/odd-tree.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { listZip } from "../../harness/zip-entries.ts";

let server: Server;
let odd: string;
let history: string;

const long = `${"directory-of-a-long-name/".repeat(5)}${"f".repeat(90)}`;
const longer = `${"g".repeat(60)}/${"h".repeat(150)}`;

beforeAll(async () => {
  // Both inline chunks and R2 objects, without worktrees, which would be read instead.
  server = await startServer({ vars: { WORKTREES: "none" } });
  odd = await makeOddRepository([
    {
      branch: "main",
      files: {
        ".gitattributes": [
          "[attr]kept -export-ignore",
          "*.secret export-ignore",
          "keep.secret kept",
          "docs/ export-ignore",
          "/only-here export-ignore",
          "*.bat eol=crlf",
          "*.auto text=auto eol=crlf",
          "*.id ident",
          '"quoted \\"name\\"" export-ignore',
          "all-left-out/* export-ignore",
          "  # no pattern",
        ].join("\n"),
        "nested/.gitattributes": "*.secret !export-ignore\nonly-here export-ignore\n",
        "nested/a.secret": "kept: unspecified again",
        "nested/only-here": "left out by the nearer file",
        "a.secret": "left out",
        "keep.secret": "kept",
        "docs/x": "left out",
        "sub/docs/x": "left out",
        "sub/only-here": "kept: the pattern is of the root",
        "only-here": "left out",
        "all-left-out/x": "the directory does not come",
        '"quoted \\"name\\""': "left out",
        "dos.bat": "one\ntwo\r\nthree\n",
        "plain.auto": "one\ntwo\n",
        "mixed.auto": "one\r\ntwo\n",
        "binary.auto": "one\ntwo\0\n",
        "x.id": "$Id$ $Id: old $ $Id: not mine $ $Idea$",
        "run.sh": { mode: "100755", content: "#!/bin/sh\n" },
        link: { mode: "120000", content: "run.sh" },
        "long-link": { mode: "120000", content: "x".repeat(120) },
        submodule: { gitlink: "1234567890123456789012345678901234567890" },
        empty: "",
        "exactly-512": "x".repeat(512),
        '"\\303\\244 \\377"': "bytes",
        [long]: "a prefix takes the directories",
        [longer]: "an extended header takes the path",
        [`${"i".repeat(120)}/${"j".repeat(120)}/k`]: "so it does for a directory",
        "large.bin": randomBytes(2_500_000),
      },
    },
    { branch: "a/branch", files: { "run.sh": null } },
  ]);
  await git(odd, "push", "-q", `${server.url}/me/odd.git`, "main", "a/branch");
  history = await makeHistory({ commits: 30, files: 120, upheavals: 6, tags: 3 });
  await git(history, "push", "-q", "--mirror", `${server.url}/me/history.git`);
  server.takeEvents();
});

afterAll(() => server.close());

async function ask(path: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await fetch(`${server.url}/api/repos/me/${path}`, { method, headers });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

const archive = async (dir: string, ...args: string[]): Promise<Buffer> =>
  (await tryGit(dir, ["archive", ...args])).stdoutBytes;

test.each([
  ["odd/archive/main.tar", () => archive(odd, "main")],
  ["odd/archive/a/branch.tar", () => archive(odd, "a/branch")],
  ["odd/archive/a%2Fbranch.tar?prefix=some/where/", () => archive(odd, "--prefix=some/where/", "a/branch")],
  ["odd/archive/main.tar?prefix=no-folder-", () => archive(odd, "--prefix=no-folder-", "main")],
  ["odd/archive/main.tar?path=sub", () => archive(odd, "main", "sub")],
  ["odd/archive/main.tar?path=nested/a.secret", () => archive(odd, "main", "nested/a.secret")],
  ["history/archive/main~7.tar", () => archive(history, "main~7")],
  ["history/archive/v0.tar", () => archive(history, "v0")],
  ["history/archive/main.tar?path=dir-3", () => archive(history, "main", "dir-3")],
])("a tar is git archive's to the byte: %s", async (path, expected) => {
  const { status, headers, bytes } = await ask(path);
  expect([status, headers.get("Content-Type")]).toEqual([200, "application/x-tar"]);
  expect(bytes.equals(await expected())).toBe(true);
});

/** Every placeholder that a commit alone determines, and text that only looks like one. */
const MARKS = [
  ..."H h T t P p e s f b B n % an ae al ad aD at ai aI as cn ce cl cd cD ct ci cI cs x41 x00".split(" "),
  "H%n%h - %s (%an, %ad)",
].map((placeholder) => `<$Format:%${placeholder}$>`);
const LOOK_ALIKES = ["$Format$", "$Format:", "$format:%H$", "$Format:$Format:%H$", "$Format:no placeholder$"];

/** Commits whose messages and people are unlike each other, by their branches. */
async function makeSubstituted(): Promise<string> {
  const text = [...MARKS, ...LOOK_ALIKES, "$Format:%H"].join("\n");
  const attributes =
    "*.subst export-subst\n*.both export-subst ident eol=crlf\nlink export-subst\nno.subst -export-subst\n";
  const files = {
    ".gitattributes": attributes,
    "a.subst": text,
    "no.subst": text,
    "b.both": `$Id$\n${text}`,
    link: { mode: "120000", content: "$Format:%H$" },
    "binary.subst": Buffer.from("\0\xff$Format:%H$\0", "latin1"),
    "empty.subst": "",
  } as const;
  const dir = await makeOddRepository([{ branch: "main", files }]);
  const tree = await git(dir, "rev-parse", "main^{tree}");
  const one = await git(dir, "rev-parse", "main");
  const messages = [
    "subject\nin two lines  \n\n\nbody\n\n more \n",
    "\n \n  odd -- subject...with_ä/signs.!  \n",
    "",
    "no line end",
    "a\n\t\nb $Format:%H$ %H\n\n",
  ];
  for (const [i, message] of messages.entries()) {
    const content = [
      `tree ${tree}`,
      ...(i === 0 ? [] : [`parent ${one}`]),
      ...(i === 1 ? [`parent ${await git(dir, "rev-parse", "m0")}`] : []),
      "author J\u00f6rg  Q. <j.q@x@example.com> 1710000001 -0330",
      `committer C <> ${i * 86_400} +1400`,
    ];
    const raw = `${content.join("\n")}\n\n${message}`;
    const { stdout } = await tryGit(dir, ["hash-object", "-t", "commit", "-w", "--stdin"], { stdin: raw });
    await git(dir, "update-ref", `refs/heads/m${i}`, stdout.trim());
  }
  return dir;
}

test("placeholders of export-subst stand for what git archive writes", async () => {
  const dir = await makeSubstituted();
  await git(dir, "push", "-q", "--all", `${server.url}/me/subst.git`);
  for (const branch of ["main", "m0", "m1", "m2", "m3", "m4"]) {
    const { status, bytes } = await ask(`subst/archive/${branch}.tar`);
    expect(status).toBe(200);
    const expected = await archive(dir, branch);
    expect(bytes.toString("latin1")).toBe(expected.toString("latin1"));
  }
});

test("a mark stays whose placeholder the commit alone does not determine, or that makes a file too large", async () => {
  const marks = ["d", "D", "(describe)", "aN", "ar", "N", "G?", "(trailers)", "Cred", "<(9)%s", "q", "h %D"];
  const kept = marks.map((mark) => `$Format:%${mark}$`).join("\n");
  const message = "subject\n\n".concat("long ".repeat(1_000));
  const large = `$Format:${"%B".repeat(400)}$ $Format:%s$`;
  const dir = await makeOddRepository([{ branch: "base", files: { x: "" } }]);
  const blobs = { ".gitattributes": "* export-subst\n", kept, large, some: `${large}$Format:%s$` };
  const lines: string[] = [];
  for (const [name, text] of Object.entries(blobs)) {
    const { stdout } = await tryGit(dir, ["hash-object", "-w", "--stdin"], { stdin: text });
    lines.push(`100644 blob ${stdout.trim()}\t${name}`);
  }
  const { stdout: tree } = await tryGit(dir, ["mktree"], { stdin: `${lines.join("\n")}\n` });
  const commit = await git(dir, "commit-tree", tree.trim(), "-m", message);
  await git(dir, "push", "-q", `${server.url}/me/kept.git`, `${commit}:refs/heads/main`);
  const { status, bytes } = await ask("kept/archive/main.tar");
  expect(status).toBe(200);
  expect(bytes.includes(`\0${kept}\0`)).toBe(true);
  expect(bytes.includes(`\0${large}\0`)).toBe(true);
});

test("a mark stays whose date or time is beyond what the server shows", async () => {
  const dir = await makeOddRepository([
    { branch: "base", files: { ".gitattributes": "f export-subst\n", f: "$Format:%ad$ $Format:%cI$ $Format:%at$" } },
  ]);
  const tree = await git(dir, "rev-parse", "base^{tree}");
  const seen: string[] = [];
  for (const [branch, seconds] of [
    ["far", "253402300800"],
    ["farther", "9223372036854775807"],
  ] as const) {
    const person = `A <a@example.com> ${seconds} +0000`;
    const raw = `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nsubject\n`;
    const { stdout } = await tryGit(dir, ["hash-object", "-t", "commit", "-w", "--stdin"], { stdin: raw });
    await git(dir, "push", "-q", `${server.url}/me/far.git`, `${stdout.trim()}:refs/heads/${branch}`);
    seen.push((await ask(`far/archive/${branch}.tar`)).bytes.toString("latin1").match(/\$Format[^\0]*/)?.[0] ?? "");
  }
  expect(seen).toEqual(["$Format:%ad$ $Format:%cI$ 253402300800", "$Format:%ad$ $Format:%cI$ $Format:%at$"]);
});

test("a compressed tar is the same tar", async () => {
  const { headers, bytes } = await ask("odd/archive/main.tar.gz");
  expect(headers.get("Content-Type")).toBe("application/gzip");
  expect(headers.get("Content-Disposition")).toBe('attachment; filename="odd-main.tar.gz"');
  expect(gunzipSync(bytes).equals(await archive(odd, "main"))).toBe(true);
});

test.each([
  ["odd/archive/a/branch.zip?prefix=x/", () => archive(odd, "--format=zip", "--prefix=x/", "a/branch")],
  ["history/archive/main.zip", () => archive(history, "--format=zip", "main")],
])("a ZIP has what git archive's has: %s", async (path, expected) => {
  expect(await listZip((await ask(path)).bytes)).toEqual(await listZip(await expected()));
});

test("an archive is had again by its ETag, and its head alone", async () => {
  const { headers } = await ask("history/archive/main.tar");
  const again = await ask("history/archive/main.tar", { "If-None-Match": headers.get("ETag")! });
  expect(again.status).toBe(304);
  const commit = await git(history, "rev-parse", "main");
  const head = await ask(`history/archive/${commit}.tar`, {}, "HEAD");
  expect([head.status, head.bytes.length]).toEqual([200, 0]);
  expect(head.headers.get("Cache-Control")).toMatch(/immutable/);
});

test.each([
  ["odd/archive/main.rar", 404],
  ["odd/archive/nothing.tar", 404],
  ["odd/archive/main", 404],
  ["odd/archive/main.tar?path=nothing", 404],
  ["odd/archive/main.tar?prefix=../up/", 422],
  ["odd/archive/main.tar?prefix=/root/", 422],
  ["nobody/archive/main.tar", 404],
])("%s is refused", async (path, status) => {
  expect((await ask(path)).status).toBe(status);
});

test("each chunk is read about once", { tags: "sweep" }, async () => {
  const files = Array.from({ length: 900 }, (_, i) => [`dir-${i % 9}/${i}`, randomBytes(8_000)] as const);
  const dir = await makeOddRepository([{ branch: "main", files: Object.fromEntries(files) }]);
  server.takeEvents();
  await git(dir, "push", "-q", `${server.url}/me/noise.git`, "main");
  const { operations: pushed } = await server.takeEvent("push");
  server.takeEvents();
  const { bytes } = await ask("noise/archive/main.tar");
  expect(bytes.equals(await archive(dir, "main"))).toBe(true);
  const { operations } = await server.takeEvent("read");
  expect(pushed.puts).toBe(4);
  // A window may end inside a chunk, and a read takes at most 4 MiB.
  expect(operations.gets).toBeLessThanOrEqual(pushed.puts + 2);
  expect(operations.bytesOut).toBeLessThan(pushed.bytesIn * 1.01);
  // The object reads trees, and nothing between them.
  const calls = server.takeEvents().filter((event) => event.event === "call");
  expect(calls.reduce((sum, call) => sum + call.operations.bytesOut, 0)).toBeLessThan(200_000);
});
