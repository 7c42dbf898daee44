import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleName } from "../../../src/worker/git/bundle-file.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { decodeLines, decodeTexts, encodePkt, FLUSH, request } from "../../harness/raw.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { StoredRepository } from "../../object/stored-repository.ts";
import { type FetchServer, startFetchServer } from "./fetch-server.ts";
import { testSome } from "../../harness/sweep.ts";
import { fetchLines, infoLines, LARGE_REFUSED, listLines, REFUSED, UNKNOWN } from "./refused-requests.ts";
import { askGit, encodeRequest, post, readAnswer } from "../../harness/transcript.ts";

let origin: string;
let server: FetchServer;
const oids: Record<string, string> = {};
beforeAll(async () => {
  origin = await makeHistory({ commits: 60, files: 20, branches: 4, merges: 2, tags: 4 });
  await git(origin, "update-ref", "refs/tags/blob", await git(origin, "rev-parse", "main:dir-0/dir-0/file-0.txt"));
  await git(origin, "tag", "-a", "-m", "tag of a tag", "outer", "v0");
  for (const setting of ["uploadpack.allowFilter", "uploadpack.allowRefInWant", "transfer.advertiseObjectInfo"]) {
    await git(origin, "config", setting, "true");
  }
  const repository = new StoredRepository();
  await repository.push(origin);
  server = await startFetchServer(repository, repository.chunkStore);
  for (const name of ["main", "main~1", "main~5", "main~20", "side-0", "side-3", "v0", "blob", "main:dir-0"]) {
    oids[name] = await git(origin, "rev-parse", name);
  }
  oids["SINCE"] = await git(origin, "log", "-1", "--format=%ct", "main~7");
});
afterAll(() => server.close());

function resolve(lines: readonly string[]): Buffer {
  const withIds = lines.map((line) =>
    line.replace(
      /^(want|have|shallow|oid|deepen-since) (\S+)/,
      (_, word: string, name: string) => `${word} ${oids[name] ?? name}`,
    ),
  );
  return Buffer.concat(withIds.map((line) => encodeRequest(line)));
}

test("the capability advertisement", async () => {
  const { body } = await request(`${server.url}/info/refs?service=git-upload-pack`, {
    headers: { "git-protocol": "version=2" },
  });
  const { stdoutBytes } = await tryGit(origin, ["upload-pack", "--stateless-rpc", "--advertise-refs", "."], {
    env: { GIT_PROTOCOL: "version=2", GIT_TEST_SIDEBAND_ALL: "1" },
  });
  const texts = decodeTexts(body).map((text) => text.replace(/^agent=holdfast\/\d.*/, "agent"));
  expect(texts).toContain("bundle-uri\n");
  // Git offers it from 2.40 on, when configured to.
  expect(texts.filter((text) => text !== "bundle-uri\n")).toEqual(
    decodeTexts(stdoutBytes).map((text) => text.replace(/^agent=.*/, "agent")),
  );
});

describe("commands are answered as git answers them", () => {
  const CONVERSATIONS: [string, string[]][] = [
    ["ls-refs", listLines()],
    ["ls-refs without arguments", ["command=ls-refs", "flush"]],
    ["ls-refs, everything", listLines("peel", "symrefs", "unborn")],
    ["ls-refs of branches and HEAD", listLines("symrefs", "ref-prefix refs/heads/", "ref-prefix HEAD")],
    [
      "ls-refs of one prefix of many",
      listLines("peel", "ref-prefix refs/tags/v", "ref-prefix refs/tags/v1", "ref-prefix nothing"),
    ],
    ["a clone", fetchLines("want main", "no-progress", "done")],
    ["a clone without done", fetchLines("want main", "no-progress")],
    ["nothing wanted", fetchLines("done")],
    ["no common have", fetchLines("want main", `have ${UNKNOWN}`)],
    ["a common have", fetchLines("want main", "have main~20", "no-progress")],
    [
      "a common have, unknown ones around it",
      fetchLines("want main", `have ${UNKNOWN}`, "have main~20", `have ${UNKNOWN}`, "no-progress"),
    ],
    ["a have on another branch", fetchLines("want main", "have side-3", "no-progress")],
    ["one of two wants met", fetchLines("want main", "want side-3", "have side-0")],
    ["a wanted blob", fetchLines("want blob", "have main", "no-progress")],
    ["a wanted tag", fetchLines("want v0", "have main~20", "no-progress")],
    ["wait-for-done", fetchLines("want main", "have main~20", "wait-for-done")],
    ["wait-for-done without a want", fetchLines("have main~20", `have ${UNKNOWN}`, "wait-for-done")],
    ["done after haves", fetchLines("want main", "have main~20", "no-progress", "done")],
    ["a depth", fetchLines("want main", "deepen 3", "done")],
    ["a depth without done", fetchLines("want main", "deepen 1")],
    ["a depth while negotiating", fetchLines("want main", "deepen 3", `have ${UNKNOWN}`)],
    ["a depth, ready", fetchLines("want main", "deepen 3", "have main~1")],
    ["a shallow client, as deep as it is", fetchLines("want main", "shallow main~5", "have main~5", "done")],
    ["deepening", fetchLines("want main", "shallow main~1", "deepen 7", "have main", "done")],
    [
      "deepening from where history ends",
      fetchLines("want main", "shallow main~1", "deepen-relative", "deepen 2", "have main", "done"),
    ],
    ["unshallowing", fetchLines("want main", "shallow main~1", "deepen 2147483647", "have main", "done")],
    ["the last of two depths", fetchLines("want main", "deepen 1", "deepen 2", "done")],
    ["deepening by date", fetchLines("want main", "deepen-since SINCE", "done")],
    ["deepening up to refs", fetchLines("want main", "deepen-not side-3", "deepen-not refs/tags/v0", "done")],
    ["a filter", fetchLines("want main", "filter combine:tree:3+blob:limit=1k", "done")],
    ["a ref wanted by name", fetchLines("want-ref refs/heads/main", "done")],
    ["refs wanted by name while negotiating", fetchLines("want-ref refs/heads/main", "have main~20")],
    ["a ref wanted by name, and no common have", fetchLines("want-ref refs/heads/main", `have ${UNKNOWN}`)],
    ["object-info", infoLines("size", "oid main", "oid main:dir-0", "oid blob", "oid v0", `oid ${UNKNOWN}`)],
    ["object-info of nothing", infoLines("size")],
    ["server options", ["command=ls-refs", "server-option=x", "server-option=y", "delim", "peel", "flush"]],
  ];
  test.each(CONVERSATIONS)("%s", async (_, lines) => {
    const body = resolve(lines);
    const { status, headers, body: response } = await post(server, body, 2);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/x-git-upload-pack-result");
    expect(readAnswer(response)).toEqual(await askGit(origin, body, 2));
  });
});

describe("bundles", () => {
  const ASKED = resolve(["command=bundle-uri", "delim", "flush"]);

  test("without any, the list is empty", async () => {
    const { status, body } = await post(server, ASKED, 2);
    expect([status, body.toString()]).toEqual([200, "0000"]);
  });

  test("are told in lines without LF, as git writes them", async () => {
    const repository = new StoredRepository();
    const bundle = {
      token: 7,
      key: "key",
      sizeBytes: 5_000,
      totalBytes: 5_000,
      checksum: new Uint8Array(20).fill(0xab),
    };
    repository.bundles = () => Promise.resolve([bundle]);
    const bundled = await startFetchServer(repository);
    const { body } = await post(bundled, ASKED, 2);
    const lines = [
      "bundle.version=1",
      "bundle.mode=all",
      "bundle.heuristic=creationToken",
      `bundle.base-7.uri=./bundles/${bundleName(bundle)}`,
      "bundle.base-7.creationtoken=7",
    ];
    expect(body.toString()).toBe(Buffer.concat([...lines.map((line) => encodePkt(line)), FLUSH]).toString());
    await bundled.close();
  });
});

const ALL = [...REFUSED, ...LARGE_REFUSED];

testSome(REFUSED.length, ALL, "%s is refused in the protocol's words", async ([, lines, message]) => {
  const { status, body } = await post(server, resolve(lines), 2);
  expect(status).toBe(200);
  const [err, ...rest] = decodeLines(body);
  expect(err).toMatch(/^ERR /);
  expect(err).toContain(message);
  expect(rest).toEqual([]);
});

describe("requests that are not the protocol's", () => {
  const LS_REFS = resolve(listLines());
  test.each([
    ["a length that is not hex", Buffer.from("00zz")],
    ["length 3", Buffer.from("0003")],
    ["a length beyond the packet size", Buffer.from(`fff5${"x".repeat(70_000)}`)],
    ["a length beyond the body", Buffer.from("0032command=ls-refs\n")],
    ["no flush packet", LS_REFS.subarray(0, -4)],
    ["a second delimiter", resolve(["command=ls-refs", "delim", "peel", "delim"])],
    ["a response-end packet", resolve(["command=ls-refs", "end"])],
  ])("%s: 400", async (_, body) => {
    expect((await post(server, body, 2)).status).toBe(400);
  });

  test("gzip bodies are decoded", async () => {
    const { status, body } = await post(server, gzipSync(LS_REFS), 2, { "content-encoding": "gzip" });
    expect(status).toBe(200);
    expect(decodeLines(body).at(-1)).toBe("flush");
  });

  test.each([
    ["gzip, cut", gzipSync(LS_REFS).subarray(0, -10), { "content-encoding": "gzip" }, 400],
    ["gzip, claimed only", LS_REFS, { "content-encoding": "gzip" }, 400],
    ["a gzip bomb", gzipSync(Buffer.alloc(200_000_000, "0000")), { "content-encoding": "gzip" }, 413],
    ["brotli", LS_REFS, { "content-encoding": "br" }, 415],
    ["a form", LS_REFS, { "content-type": "application/x-www-form-urlencoded" }, 415],
    ["the content type of a push", LS_REFS, { "content-type": "application/x-git-receive-pack-request" }, 415],
  ])("%s: %4$i", async (_, body, headers, expected) => {
    expect((await post(server, body, 2, headers)).status).toBe(expected);
  });

  test("methods and services", async () => {
    expect((await request(`${server.url}/git-upload-pack`)).status).toBe(405);
    expect((await request(`${server.url}/info/refs?service=git-upload-archive`)).status).toBe(403);
    expect((await request(`${server.url}/info/refs`)).status).toBe(403);
  });
});

test("an unknown repository is 404, whatever is asked of it", async () => {
  const nothing = await startFetchServer({
    refs: () => Promise.resolve(null),
    fetch: () => Promise.resolve({ kind: "unknown-repository" }),
    sizes: () => Promise.resolve(null),
    bundles: () => Promise.resolve(null),
    finishResponse: () => Promise.resolve(),
    awaitResponse: () => Promise.resolve(null),
  });
  for (const headers of [{}, { "git-protocol": "version=2" }]) {
    expect((await request(`${nothing.url}/info/refs?service=git-upload-pack`, { headers })).status).toBe(404);
  }
  for (const lines of [
    listLines(),
    fetchLines("want main", "done"),
    fetchLines("done"),
    infoLines("size"),
    ["command=bundle-uri", "delim", "flush"],
  ]) {
    expect((await post(nothing, resolve(lines), 2)).status).toBe(404);
  }
  for (const lines of [["want main", "flush", "done"], ["flush"]])
    expect((await post(nothing, resolve(lines), 0)).status).toBe(404);
  await nothing.close();
});

test("object-info without attributes tells what there is", async () => {
  const { body } = await post(server, resolve(infoLines("oid main", `oid ${UNKNOWN}`)), 2);
  expect(decodeLines(body)).toEqual([oids["main"], `${UNKNOWN} `, "flush"]);
});

describe("sideband-all", () => {
  /** Lines up to the pack, with the band of each packet that has one. */
  const readBands = (body: Buffer): string[] => {
    const texts = decodeTexts(body);
    return texts.slice(
      0,
      texts.findIndex((text) => text.slice(1).startsWith("PACK")),
    );
  };

  test.each([
    ["a clone", ["want main", "done"]],
    ["a round", ["want main", "have main~20"]],
    ["a round that is not the last", ["want main", `have ${UNKNOWN}`]],
    ["a depth", ["want main", "deepen 3", "done"]],
    ["refs wanted by name", ["want-ref refs/heads/main", "have main~20"]],
  ])("%s is multiplexed as git multiplexes it", async (_, lines) => {
    const body = resolve(fetchLines("sideband-all", "no-progress", ...lines));
    const { stdoutBytes } = await tryGit(origin, ["upload-pack", "--stateless-rpc", "."], {
      stdin: body,
      env: { GIT_PROTOCOL: "version=2", GIT_TEST_SIDEBAND_ALL: "1" },
    });
    expect(readBands((await post(server, body, 2)).body)).toEqual(readBands(stdoutBytes));
  });

  test("a refusal is on band 3", async () => {
    const { body } = await post(server, resolve(fetchLines("sideband-all", `want ${UNKNOWN}`, "done")), 2);
    expect(decodeLines(body)).toEqual([`\x03upload-pack: not our ref ${UNKNOWN}`]);
  });
});

test("what comes with a pack precedes it in the order in which git's client reads it", async () => {
  const lines = fetchLines("want-ref refs/heads/main", "want-ref HEAD", "deepen 1", "have main~20", "no-progress");
  expect(readAnswer((await post(server, resolve(lines), 2)).body)).toEqual({
    lines: [
      ["acknowledgments\n", `ACK ${oids["main~20"]}\n`, "ready\n", "delim"],
      ["shallow-info\n", `shallow ${oids["main"]}`, "delim"],
      ["wanted-refs\n", `${oids["main"]} refs/heads/main\n`, `${oids["main"]} HEAD\n`, "delim"],
      ["packfile\n"],
    ].flat(),
    pack: true,
  });
});

test("60,000 haves and 70,000 prefixes are taken", { tags: "sweep" }, async () => {
  const haves = Array.from({ length: 60_000 }, (_, i) => `have ${i.toString(16).padStart(40, "0")}`);
  const answer = readAnswer(
    (await post(server, resolve(fetchLines("want main", ...haves, "have main~5", "no-progress")), 2)).body,
  );
  expect(answer).toEqual({
    lines: ["acknowledgments\n", `ACK ${oids["main~5"]}\n`, "ready\n", "delim", "packfile\n"],
    pack: true,
  });
  const prefixes = Array.from({ length: 70_000 }, (_, i) => `ref-prefix refs/heads/nothing-${i}`);
  const all = decodeLines((await post(server, resolve(listLines()), 2)).body);
  expect(decodeLines((await post(server, resolve(listLines(...prefixes)), 2)).body)).toEqual(all);
});

test("a commit that no ref leads to any more is refused, and what still leads somewhere is not", async () => {
  const moved = await makeRepository("moved.git", "--bare");
  const repository = new StoredRepository();
  for (const name of ["side-3", "main"]) {
    await git(moved, "fetch", "-q", "--no-tags", origin, `+${name}:refs/heads/branch`);
    await git(moved, "symbolic-ref", "HEAD", "refs/heads/branch");
    await repository.push(moved);
  }
  const forced = await startFetchServer(repository, repository.chunkStore);
  const ask = async (name: string): Promise<string[]> =>
    readAnswer((await post(forced, resolve(fetchLines(`want ${name}`, "no-progress", "done")), 2)).body).lines;
  expect(await ask("side-3")).toEqual([`ERR upload-pack: not our ref ${oids["side-3"]}`]);
  expect(await ask("main~20")).toEqual(["packfile\n"]);
  await forced.close();
});

test("stored bytes that are missing end a clone with an error that git shows", async () => {
  const repository = new StoredRepository({ chunkBytes: 20_000 });
  await repository.push(origin);
  const { key } = repository.chunkTable.allInOrder().at(-1)!;
  await repository.chunkStore.delete([key!]);
  const broken = await startFetchServer(repository, repository.chunkStore);
  const { code, stderr } = await tryGit(makeTempDir("cwd"), ["clone", "--mirror", broken.url, "clone.git"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain("remote: storage failed");
  await broken.close();
});
