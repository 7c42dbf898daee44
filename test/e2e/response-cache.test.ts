import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { FetchEvent } from "../../src/contract/log-events.ts";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { DELIM, encodePkt, FLUSH, type RawResponse, request } from "../harness/raw.ts";
import { type Server, startServer } from "../harness/server.ts";
import { testSome } from "../harness/sweep.ts";

const AT_ONCE = 20;

let origin = "";
let server: Server;
let url = "";

beforeAll(async () => {
  origin = await makeHistory({ commits: 200, files: 300, branches: 3, merges: 1, tags: 2 });
  server = await startServer();
  url = `${server.url}/a/b.git`;
  await git(origin, "push", "-q", "--mirror", url);
});

afterAll(() => server.close());

async function ask(revision: string, ...lines: readonly string[]): Promise<RawResponse> {
  const want = await git(origin, "rev-parse", revision);
  const body = Buffer.concat([
    encodePkt("command=fetch"),
    DELIM,
    ...[`want ${want}`, "ofs-delta", ...lines, "done"].map((line) => encodePkt(`${line}\n`)),
    FLUSH,
  ]);
  const headers = { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" };
  return request(`${url}/git-upload-pack`, { method: "POST", headers, body });
}

async function fetch(revision: string, ...lines: readonly string[]): Promise<RawResponse> {
  const response = await ask(revision, ...lines);
  expect(response.status).toBe(200);
  return response;
}

/** Fetches until the response comes from the cache: the second fetch begins the storing, and does
 * not wait for its end. */
function fetchStored(revision: string): Promise<RawResponse> {
  const stored = async (): Promise<RawResponse> => {
    const response = await fetch(revision);
    expect(cacheOf(response)).toBe("hit");
    return response;
  };
  return vi.waitFor(stored, { timeout: 30_000 });
}

function cacheOf({ headers }: RawResponse): unknown {
  return headers["holdfast-cache"];
}

test(
  "a response is made once alone, then stored, then served from there, to the byte the same",
  { tags: "sweep" },
  async () => {
    const responses = [await fetch("main"), await fetch("main")];
    expect(responses.map(cacheOf)).toEqual(["miss", "miss"]);
    responses.push(await fetchStored("main"));
    for (const { body } of responses) expect(body.equals(responses[0]!.body)).toBe(true);
    await server.restart();
    server.takeEvents();
    const later = await fetch("main");
    expect((await server.takeEvent("fetch")).cache).toBe("hit");
    expect(cacheOf(later)).toBe("hit");
    expect(later.body.equals(responses[0]!.body)).toBe(true);
  },
);

const RESPONSES: readonly (readonly [string, lines: string[]])[] = [
  ["partial", ["filter blob:limit=1m"]],
  ["whole", []],
  ["cut", ["deepen 3"]],
];

testSome(1, RESPONSES, "%s: twenty at once are made twice, stored once, and equal", async ([, lines]) => {
  const responses = await Promise.all(Array.from({ length: AT_ONCE }, () => fetch("side-0", ...lines)));
  const [first] = responses;
  for (const { body } of responses) expect(body.equals(first!.body)).toBe(true);
  // The Worker may log a response after its client has it.
  const events: FetchEvent[] = [];
  while (events.length < AT_ONCE + 1) events.push(await server.takeEvent("fetch"));
  // Made for the first and for the second, and once to be stored for all later ones.
  expect(events.filter(({ cache }) => cache === "miss")).toHaveLength(3);
  expect(responses.filter((response) => cacheOf(response) === "miss")).toHaveLength(2);
  expect(events.filter(({ cache }) => cache !== "miss").map(({ operations }) => operations.puts)).not.toContain(2);
});

test("what is pushed is seen at once, whatever lies stored", { tags: "sweep" }, async () => {
  await fetchStored("main");
  const clone = `${origin}-clone`;
  await git(".", "clone", "-q", url, clone);
  await git(clone, "commit", "-q", "--allow-empty", "-m", "New");
  await git(clone, "push", "-q", url, "HEAD:main");
  const tip = await git(clone, "rev-parse", "HEAD");
  expect(await git(".", "ls-remote", url, "main")).toContain(tip);
  await git(".", "clone", "-q", url, `${clone}-2`);
  expect(await git(`${clone}-2`, "rev-parse", "HEAD")).toBe(tip);
});

test("a stored response whose bytes are lost is an error once, never a short answer", async () => {
  await fetchStored("main");
  expect(await server.loseObjects("/packs/")).toBeGreaterThan(0);
  const lost = await ask("main");
  expect(lost.status).toBe(500);
  expect(lost.body.toString()).toContain("storage failed");
  expect(cacheOf(await fetch("main"))).not.toBe("hit");
});
