import { afterAll, beforeAll, expect, test } from "vitest";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { decodeLines, decodeTexts, request } from "../../harness/raw.ts";
import { StoredRepository } from "../../object/stored-repository.ts";
import { type FetchServer, startFetchServer } from "./fetch-server.ts";
import { askGit, encodeRequest, post, readAnswer } from "../../harness/transcript.ts";

const UNKNOWN = "1234567890123456789012345678901234567890";

let origin: string;
let server: FetchServer;
const oids: Record<string, string> = {};
beforeAll(async () => {
  origin = await makeHistory({ commits: 60, files: 20, branches: 4, merges: 2, tags: 4 });
  for (const setting of ["allowFilter", "allowTipSHA1InWant", "allowReachableSHA1InWant"]) {
    await git(origin, "config", `uploadpack.${setting}`, "true");
  }
  const repository = new StoredRepository();
  await repository.push(origin);
  server = await startFetchServer(repository, repository.chunkStore);
  for (const name of ["main", "main~1", "main~5", "main~20", "side-0", "side-3", "side-3~1", "v0"]) {
    oids[name] = await git(origin, "rev-parse", name);
  }
  oids["SINCE"] = await git(origin, "log", "-1", "--format=%ct", "main~7");
});
afterAll(() => server.close());

/** Replaces names by ids. */
function resolve(lines: readonly string[]): Buffer {
  return encodeRequest(
    ...lines.map((line) =>
      line.replace(
        /^(want|have|shallow|deepen-since) (\S+)/,
        (_, word: string, name: string) => `${word} ${oids[name] ?? name}`,
      ),
    ),
  );
}

test.each([0, 1] as const)("the advertisement of v%i is git's", async (version) => {
  const { stdoutBytes } = await tryGit(origin, ["upload-pack", "--stateless-rpc", "--advertise-refs", "."], {
    env: { GIT_PROTOCOL: `version=${version}` },
  });
  const { status, headers, body } = await request(`${server.url}/info/refs?service=git-upload-pack`, {
    headers: version === 1 ? { "git-protocol": "version=1" } : {},
  });
  expect(status).toBe(200);
  expect(headers["content-type"]).toBe("application/x-git-upload-pack-advertisement");
  expect(headers["cache-control"]).toBe("no-cache, max-age=0, must-revalidate");
  const texts = (bytes: Buffer): string[] => decodeTexts(bytes).map((text) => text.replace(/ agent=\S+/, " agent"));
  expect(texts(body)).toEqual(["# service=git-upload-pack\n", "flush", ...texts(stdoutBytes)]);
});

const DETAILED = "multi_ack_detailed no-done side-band-64k thin-pack ofs-delta no-progress";
const CONVERSATIONS: [string, string[]][] = [
  ["a clone", [`want main ${DETAILED}`, "flush", "done"]],
  ["a clone without side-band", ["want main ofs-delta", "flush", "done"]],
  ["a clone with small side-band packets", ["want main side-band no-progress", "flush", "done"]],
  ["nothing wanted", ["flush"]],
  ["wants only", [`want main ${DETAILED}`, "flush"]],
  ["an empty round", [`want main ${DETAILED}`, "flush", "flush"]],
  ["a round without common haves", [`want main ${DETAILED}`, "flush", `have ${UNKNOWN}`, "flush"]],
  ["a common have", [`want main ${DETAILED}`, "flush", "have main~20", "flush"]],
  ["a common have on another branch", [`want main ${DETAILED}`, "flush", "have side-3", "flush"]],
  ["the child of an ancestor", [`want main~1 ${DETAILED}`, "flush", "have main", "flush"]],
  [
    "an unknown have before a common one",
    [`want main ${DETAILED}`, "flush", `have ${UNKNOWN}`, "have main~20", "flush"],
  ],
  [
    "an unknown have behind a common one",
    [`want main ${DETAILED}`, "flush", "have main~20", `have ${UNKNOWN}`, "flush"],
  ],
  ["two wants, one met", [`want main ${DETAILED}`, "want side-3", "flush", "have side-0", "flush"]],
  ["two wants, both met", [`want main ${DETAILED}`, "want side-3", "flush", "have side-0", "have main~5", "flush"]],
  ["a wanted tag", [`want v0 ${DETAILED}`, "flush", "have main", "flush"]],
  [
    "done after common haves",
    [`want main ${DETAILED}`, "flush", "have main~20", `have ${UNKNOWN}`, "have side-3", "done"],
  ],
  ["done after unknown haves", [`want main ${DETAILED}`, "flush", `have ${UNKNOWN}`, "done"]],
  ["without no-done", ["want main multi_ack_detailed side-band-64k", "flush", "have main~20", "flush"]],
  [
    "multi_ack",
    ["want main multi_ack side-band-64k", "flush", "have main~20", `have ${UNKNOWN}`, "have side-3", "flush"],
  ],
  ["multi_ack, done", ["want main multi_ack side-band-64k", "flush", "have main~20", `have ${UNKNOWN}`, "done"]],
  ["a single ACK", ["want main side-band-64k", "flush", "have main~20", "have side-3", "flush"]],
  ["a single NAK", ["want main side-band-64k", "flush", `have ${UNKNOWN}`, "flush"]],
  ["a single ACK, done", ["want main side-band-64k", "flush", "have main~20", "done"]],
  ["a depth, before any round", [`want main ${DETAILED}`, "deepen 1", "flush"]],
  ["a depth", [`want main ${DETAILED}`, "deepen 3", "flush", "done"]],
  ["a depth without side-band", ["want main ofs-delta", "deepen 3", "flush", "done"]],
  ["a depth and an empty round", [`want main ${DETAILED}`, "deepen 3", "flush", "flush"]],
  ["a depth and a round", [`want main ${DETAILED}`, "deepen 3", "flush", "have main~1", "flush"]],
  ["a shallow client, as deep as it is", [`want main ${DETAILED}`, "shallow main~5", "flush", "have main~5", "done"]],
  ["a shallow client of unknown commits", [`want main ${DETAILED}`, `shallow ${UNKNOWN}`, "flush", "done"]],
  ["deepening", [`want main ${DETAILED}`, "shallow main~1", "deepen 7", "flush", "have main", "done"]],
  [
    "deepening from where history ends",
    [`want main ${DETAILED} deepen-relative`, "shallow main~1", "deepen 2", "flush", "have main", "done"],
  ],
  ["unshallowing", [`want main ${DETAILED}`, "shallow main~1", "deepen 2147483647", "flush", "have main", "done"]],
  ["deepening by date", [`want main ${DETAILED}`, "deepen-since SINCE", "flush", "done"]],
  ["deepening up to a ref", [`want main ${DETAILED}`, "deepen-not side-3", "deepen-not refs/tags/v0", "flush", "done"]],
  ["a filter", [`want main ${DETAILED} filter`, "filter blob:none", "flush", "done"]],
  ["a filter and a depth", [`want main ${DETAILED} filter`, "deepen 1", "filter tree:1", "flush", "done"]],
];

test.each(CONVERSATIONS)("%s is answered as git answers it", async (_, lines) => {
  const body = resolve(lines);
  const { status, body: response } = await post(server, body, 0);
  expect(status).toBe(200);
  expect(readAnswer(response)).toEqual(await askGit(origin, body, 0));
});

test.each([
  ["an unknown want", [`want ${UNKNOWN}`, "flush", "done"], `upload-pack: not our ref ${UNKNOWN}`],
  ["a want that is no id", ["want main~~", "flush", "done"], "expected an object id"],
  ["a have that is no id", ["want main", "flush", "have x", "flush"], "expected an object id"],
  ["a shallow commit that is no id", ["want main", "shallow x", "flush", "done"], "invalid shallow line: shallow x"],
  ["a depth of nothing", ["want main", "deepen 0", "flush", "done"], "invalid deepen: deepen 0"],
  [
    "a filter that was not agreed on",
    ["want main", "filter blob:none", "flush", "done"],
    "filtering capability not negotiated",
  ],
  ["a depth as an argument of v2", ["want main", "deepen-relative", "flush", "done"], "expected a want"],
  ["another object format", ["want main object-format=sha256", "flush", "done"], "mismatched object format"],
  ["NUL", ["want main side-band-64k\0", "flush", "done"], "NUL in a line"],
  ["a stray line", ["want main", "flush", "hello", "flush"], "expected a have, got 'hello'"],
])("%s is refused in the protocol's words", async (_, lines, message) => {
  const { status, body } = await post(server, resolve(lines), 0);
  expect(status).toBe(200);
  const [err, ...rest] = decodeLines(body);
  expect(err).toMatch(/^ERR /);
  expect(err).toContain(message);
  expect(rest).toEqual([]);
});
