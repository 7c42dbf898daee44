import { createHash } from "node:crypto";
import type { OpenApiDocument } from "../../src/worker/web/api-docs/open-api.ts";
import { askApi } from "./api.ts";
import { ApiFuzzer, type FuzzResult } from "./api-fuzz.ts";
import { git, tryGit } from "./git.ts";
import { makeHistory } from "./history.ts";
import { Random } from "./random.ts";
import type { Server } from "./server.ts";

/** Of refs that are not there. */
const FULL_NAMES = ["refs/heads/newer", "refs/heads/newest", "refs/tags/new", "refs/notes/new"];

/** Pushes a small history and sends every route of the API requests generated from its document.
 * @param rounds requests per route; the history is pushed anew before each round */
export async function fuzzApi(server: Pick<Server, "url">, seed: number, rounds: number): Promise<FuzzResult> {
  const history = await makeHistory({ commits: 12, files: 6, branches: 2, merges: 1, upheavals: 2, tags: 2 });
  const { body: document } = await askApi<OpenApiDocument>(server, "/openapi.json");
  const oids = (await git(history, "rev-list", "--objects", "--no-object-names", "--all")).split("\n");
  const commits = (await git(history, "rev-list", "--all")).split("\n");
  const tag = await git(history, "rev-parse", "v0");
  const paths = (await git(history, "ls-tree", "-r", "--name-only", "main")).split("\n");
  const refs = ["main", "side-0", "v0", "v1", "HEAD", "main~2", "main^{tree}", ...oids.slice(0, 3)];
  // One more each round, since a route revokes them.
  const tokens: string[] = ["current"];
  // One more each round, since a route ends them; and the checksum of the body that a part gets.
  const uploads: string[] = [];
  const checksums: string[] = [];
  // One more each round, since a route deletes them; and a message that was sent to it.
  const webhooks: string[] = [];
  const deliveries: string[] = [];
  const mirrors: string[] = [];
  const { stdoutBytes: pack } = await tryGit(history, ["pack-objects", "-q", "--all", "--stdout"]);
  const known = {
    owner: ["me"],
    repo: ["fuzzed"],
    // Repeated, because there are few annotated tags.
    oid: [...oids, ...Array.from({ length: oids.length / 4 }, () => tag)],
    path: paths,
    file: ["main.tar", "v0.tar.gz", "side-0.zip"],
    id: tokens,
    upload: uploads,
    sha256: checksums,
    webhook: webhooks,
    delivery: deliveries,
    mirror: mirrors,
    url: ["http://127.0.0.1:9/", "https://nowhere.invalid/ada/engine.git"],
    secret: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    parts: ["1"],
    refs: ["refs/heads/"],
    after: ["0", "1", "latest"],
    wait: ["0"],
    tips: oids,
    old: oids,
    // What a branch may be.
    new: commits,
    ref: refs,
    base: ["main", "side-0", "main~2"],
    head: refs,
    range: ["main...side-0", "side-0..main", "v0...HEAD"],
    branch: ["main", "side-0"],
    name: ["main", "side-0", "v0", "v1", "new", "heads/side-1", "tags/v0", "refs/heads/new", ...FULL_NAMES],
    newName: ["side-2", "v2"],
    startPoint: refs,
    // The newest one can be undone most often.
    commit: [...refs, "side-1", "side-0~1", "main~1", "main", "main", "main"],
    target: refs,
    email: ["ada@example.com"],
    message: ["Change"],
    // Of a file to move, and of a branch to follow.
    from: [...paths, ...paths.map(() => "me/fuzzed-fork:main")],
    to: ["moved"],
    date: ["2024-02-29T12:00:00Z"],
    content: ["text\n", "dGV4dAo="],
  };
  const fuzzer = new ApiFuzzer(`${server.url}/api`, document, new Random(seed), known, pack);
  return fuzzer.run(rounds, async () => {
    const wanted = { owner: "me", name: "fuzzed", right: "read" };
    const made = await askApi<{ id: string }>(server, "/tokens", { method: "POST", json: wanted });
    tokens.push(made.body.id);
    // Removes quotas of the previous round that could refuse the push.
    const free = { maxBytes: null, maxObjects: null };
    for (const path of ["/owners/me/quota", "/repos/me/fuzzed/quota"])
      await askApi(server, path, { method: "PUT", json: free });
    await askApi(server, "/repos/me/fuzzed/protected-refs", { method: "PUT", json: { rules: [] } });
    const refspecs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
    await git(history, "push", "-q", `${server.url}/me/fuzzed.git`, ...refspecs);
    await askApi(server, "/repos/me/fuzzed/import", { method: "DELETE" });
    // Every other round finds one.
    const wantedImport = { url: "https://nowhere.invalid/ada/engine.git" };
    if (tokens.length % 2 === 0)
      await askApi(server, "/repos/me/fuzzed/import", { method: "POST", json: wantedImport });
    for (const id of uploads) await askApi(server, `/repos/me/fuzzed/uploads/${id}`, { method: "DELETE" });
    const begun = await askApi<{ id: string }>(server, "/repos/me/fuzzed/uploads", { method: "POST", json: {} });
    uploads.splice(0, Infinity, begun.body.id);
    const part = `${server.url}/api/repos/me/fuzzed/uploads/${begun.body.id}/parts/1`;
    checksums.splice(0, Infinity, hashOf(await (await fetch(part)).bytes()));
    await fetch(`${part}?sha256=${hashOf(pack)}`, { method: "PUT", body: new Uint8Array(pack) });
    const former = webhooks.splice(0);
    deliveries.length = 0;
    // Of the repository, and of its owner.
    for (const hooks of ["/repos/me/fuzzed/webhooks", "/owners/me/webhooks"]) {
      for (const id of former) await askApi(server, `${hooks}/${id}`, { method: "DELETE" });
      const json = { url: "http://127.0.0.1:9/" };
      const { body: hook } = await askApi<{ id: string }>(server, hooks, { method: "POST", json });
      webhooks.push(hook.id);
      const sent = await askApi<{ id: number }>(server, `${hooks}/${hook.id}/pings`, { method: "POST" });
      deliveries.push(`${sent.body.id}`);
    }
    for (const id of mirrors) await askApi(server, `/repos/me/fuzzed/mirrors/${id}`, { method: "DELETE" });
    const target = { method: "POST", json: { url: "https://nowhere.invalid/ada/engine.git" } };
    const mirror = await askApi<{ id: string }>(server, "/repos/me/fuzzed/mirrors", target);
    mirrors.splice(0, Infinity, mirror.body.id);
    await askApi(server, "/repos/me/fuzzed-fork", { method: "DELETE" });
    await askApi(server, "/repos/me/fuzzed/forks", { method: "POST", json: { name: "fuzzed-fork" } });
  });
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The routes without a successful response, which have not really been tested. */
export function listUntried({ statuses }: FuzzResult): string[] {
  return [...statuses]
    .filter(([, counts]) => ![...counts.keys()].some((status) => status < 400))
    .map(([route]) => route);
}
