/** Webhooks, with real receivers, read by the libraries that receivers use. */
import { setTimeout as sleep } from "node:timers/promises";
import { Webhooks } from "@octokit/webhooks";
import { Webhook as Verifier } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { mostRows } from "../harness/commit-rows.ts";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type Received, Receiver } from "../harness/receiver.ts";
import { findFreePort, type Server, startServer } from "../harness/server.ts";
import { ADMIN_TOKEN, shareServer } from "../harness/shared-server.ts";

interface Made {
  readonly id: string;
  readonly secret: string;
}
interface Sent {
  readonly id: number;
  readonly messageId: string;
  readonly type: string;
  readonly error: string | null;
  readonly request: { readonly body: string };
  readonly response: { readonly status: number; readonly body: string } | null;
}
interface Told {
  readonly type: string;
  readonly id: string;
  readonly data: { readonly refs: readonly { readonly name: string; readonly new: string }[] };
}

let server: Server;
let history: string;
const open: Receiver[] = [];

beforeAll(async () => {
  server = await startServer({
    vars: { ALLOW_PRIVATE_HOSTS: "on" },
    constants: {
      DELIVERY_LEASE_MS: 1_500,
      FIRST_RETRY_MS: 300,
      FIRST_AGAIN_MS: 500,
      ANSWER_MS: 1_000,
      GIVE_UP_MS: 4_000,
    },
  });
  history = await makeHistory({ commits: 40, files: 3 });
});
afterEach(() => {
  for (const receiver of open.splice(0)) receiver.close();
});
afterAll(() => server.close());

async function newReceiver(): Promise<Receiver> {
  const receiver = await Receiver.open();
  open.push(receiver);
  return receiver;
}
const push = (name: string, ...args: readonly string[]) => git(history, "push", "-q", `${server.url}/${name}`, ...args);

async function ask<Body>(method: string, path: string, json?: unknown): Promise<Body> {
  const { status, body } = await askApi<Body>(server, `/repos/${path}`, { method, json });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}
const hook = (name: string, json: object) => ask<Made>("POST", `${name}/webhooks`, json);
const deliveriesOf = async (name: string, { id }: Made) =>
  (await ask<{ deliveries: Sent[] }>("GET", `${name}/webhooks/${id}/deliveries`)).deliveries;

/** The message of a request in the standard format, if its signature is right. */
const read = (secret: string, { body, headers }: Received): Told =>
  new Verifier(secret).verify(body, { ...headers }) as Told;

test("a standard webhook is told of a push, as its library verifies", async () => {
  const receiver = await newReceiver();
  await push("hooks/standard", "HEAD~39:refs/heads/main");
  const made = await hook("hooks/standard", { url: receiver.url });
  const ping = await ask<Sent>("POST", `hooks/standard/webhooks/${made.id}/pings`);
  expect(ping).toMatchObject({ type: "ping", error: null, response: { status: 204 } });
  await push("hooks/standard", "HEAD~38:refs/heads/main", "HEAD~38:refs/tags/v1");
  const [pinged, pushed] = await receiver.count(2);
  expect(read(made.secret, pinged!).type).toBe("ping");
  const told = read(made.secret, pushed!);
  const oid = await git(history, "rev-parse", "HEAD~38");
  expect(told).toMatchObject({
    type: "push",
    data: {
      repository: { owner: "hooks", name: "standard", url: `${server.url}/hooks/standard` },
      refCount: 2,
      refs: [
        { name: "refs/heads/main", new: oid, forced: false, commits: [{ oid }] },
        { name: "refs/tags/v1", old: null },
      ],
    },
  });
  expect(() => read(`whsec_${Buffer.alloc(32).toString("base64")}`, pushed!)).toThrow("No matching signature");
  const shown = JSON.stringify([
    await ask("GET", "hooks/standard/webhooks"),
    await ask("GET", `hooks/standard/webhooks/${made.id}`),
    await deliveriesOf("hooks/standard", made),
  ]);
  expect(shown).not.toContain(made.secret.slice("whsec_".length));
});

test("a replaced secret signs beside the new one", async () => {
  const receiver = await newReceiver();
  await push("hooks/rotated", "HEAD~39:refs/heads/main");
  const made = await hook("hooks/rotated", { url: receiver.url });
  const { secret } = await ask<Made>("POST", `hooks/rotated/webhooks/${made.id}/secret`, {});
  expect(secret).not.toBe(made.secret);
  await push("hooks/rotated", "HEAD~38:refs/heads/main");
  const [pushed] = await receiver.count(1);
  expect(read(secret, pushed!)).toEqual(read(made.secret, pushed!));
});

test("a webhook in GitHub's format gets its create, push and delete, as octokit verifies and parses them", async () => {
  const receiver = await newReceiver();
  await push("hooks/github", "HEAD~39:refs/heads/main");
  const secret = "a secret of twenty characters";
  const made = await hook("hooks/github", { url: receiver.url, format: "github", secret });
  await ask("POST", `hooks/github/webhooks/${made.id}/pings`);
  await push("hooks/github", "HEAD~37:refs/heads/main", "HEAD~36:refs/heads/side");
  // Of commits that nothing reaches any more, no message tells.
  await receiver.count(1 + 3);
  await push("hooks/github", "+HEAD~38:refs/heads/main", ":refs/heads/side");
  const requests = await receiver.count(1 + 3 + 3);
  const octokit = new Webhooks({ secret });
  const heard: unknown[] = [];
  octokit.onAny(({ name, payload }) => {
    const { ref, created, deleted, forced, commits, repository } = payload as unknown as Record<string, never>;
    heard.push([
      name,
      ref,
      created,
      deleted,
      forced,
      (commits as unknown[] | undefined)?.length,
      repository?.["full_name"],
    ]);
  });
  for (const { headers, body } of requests) {
    await octokit.verifyAndReceive({
      id: headers["x-github-delivery"]!,
      name: headers["x-github-event"]!,
      signature: headers["x-hub-signature-256"]!,
      payload: body,
    });
  }
  const full = "hooks/github";
  expect(heard).toEqual([
    ["ping", undefined, undefined, undefined, undefined, undefined, full],
    ["push", "refs/heads/main", false, false, false, 2, full],
    ["create", "side", undefined, undefined, undefined, undefined, full],
    ["push", "refs/heads/side", true, false, false, 1, full],
    ["push", "refs/heads/main", false, false, true, 0, full],
    ["push", "refs/heads/side", false, true, false, 0, full],
    ["delete", "side", undefined, undefined, undefined, undefined, full],
  ]);
  await expect(octokit.verify(requests[1]!.body, "sha256=00")).resolves.toBe(false);
});

interface GithubPush {
  readonly ref: string;
  readonly deleted: boolean;
  readonly commits: readonly { readonly id: string }[];
  readonly head_commit: { readonly id: string } | null;
  readonly size?: number;
  readonly distinct_size?: number;
  readonly commits_truncated?: boolean;
}

/** The pushes among messages in GitHub's format. */
const githubPushes = (requests: readonly Received[]): GithubPush[] =>
  requests
    .filter(({ headers }) => headers["x-github-event"] === "push")
    .map(({ body }) => JSON.parse(body) as GithubPush);

test("a webhook in GitHub's format is told the commit of each ref, and how many there are", async () => {
  const receiver = await newReceiver();
  await push("hooks/heads", "HEAD~39:refs/heads/main");
  await hook("hooks/heads", { url: receiver.url, format: "github", secret: "a secret of twenty characters" });
  const oidOf = (revision: string): Promise<string> => git(history, "rev-parse", `${revision}^{commit}`);
  await git(history, "tag", "-f", "-a", "-m", "annotated", "annotated", "HEAD~39");
  const refs = ["HEAD~39:refs/heads/same", "HEAD~39:refs/tags/light", "refs/tags/annotated", "HEAD~10:refs/heads/main"];
  await push("hooks/heads", ...refs);
  await push("hooks/heads", "+HEAD~20:refs/heads/main", ":refs/tags/light");
  const pushes = githubPushes(await receiver.count(4 + 3 + 3));
  const told = pushes.map(({ ref, commits, head_commit: head, size, commits_truncated: cut = false }) => [
    ref,
    head?.id ?? null,
    commits.length,
    size,
    cut,
  ]);
  const [oldest, tip, rewound] = await Promise.all(["HEAD~39", "HEAD~10", "HEAD~20"].map(oidOf));
  expect(told.slice(0, 4)).toEqual(
    expect.arrayContaining([
      ["refs/heads/main", tip, 20, 29, true],
      ["refs/heads/same", oldest, 0, 0, false],
      ["refs/tags/annotated", oldest, 0, 0, false],
      ["refs/tags/light", oldest, 0, 0, false],
    ]),
  );
  expect(told.slice(4)).toEqual([
    ["refs/heads/main", rewound, 0, 0, false],
    ["refs/tags/light", null, 0, 0, false],
  ]);
});

test("each of 120 refs that move at once is told, in both formats", { timeout: 120_000 }, async () => {
  const [standard, github] = await Promise.all([newReceiver(), newReceiver()]);
  await push("hooks/many", "HEAD~39:refs/heads/main");
  const made = await hook("hooks/many", { url: standard.url, events: ["push"] });
  const json = { url: github.url, format: "github", secret: "a secret of twenty characters", events: ["push"] };
  await hook("hooks/many", json);
  const names = Array.from({ length: 120 }, (_, i) => `refs/tags/t${String(i).padStart(3, "0")}`);
  await push("hooks/many", ...names.map((name) => `HEAD~39:${name}`));
  const oid = await git(history, "rev-parse", "HEAD~39");
  const pushes = githubPushes(await github.count(120, 90_000));
  expect(pushes.map(({ ref }) => ref)).toEqual(names);
  expect(new Set(pushes.map(({ head_commit: head }) => head?.id))).toEqual(new Set([oid]));
  const messages = (await standard.count(2)).map((request) => read(made.secret, request));
  expect(messages.map(({ data }) => data.refs.length)).toEqual([100, 20]);
  expect(messages).toMatchObject([{ data: { refCount: 120 } }, { data: { refCount: 120, refsFrom: 100 } }]);
  expect(messages.flatMap(({ data }) => data.refs.map(({ name }) => name))).toEqual(names);
  expect(new Set(standard.received.map(({ headers }) => headers["webhook-id"])).size).toBe(2);
});

test("a push whose refs have very long names is told in messages of a few refs each", async () => {
  const receiver = await newReceiver();
  await push("hooks/names", "HEAD~39:refs/heads/main");
  const made = await hook("hooks/names", { url: receiver.url });
  const names = Array.from({ length: 100 }, (_, i) => `refs/tags/t${i + 100}${`/${"n".repeat(200)}`.repeat(4)}`);
  await push("hooks/names", ...names.map((name) => `HEAD~39:${name}`));
  const messages = (await receiver.count(10)).map((request) => read(made.secret, request));
  expect(messages.flatMap(({ data }) => data.refs.map(({ name }) => name))).toEqual(names);
});

test(
  "what fails is tried again in order, is given up after a day, and can be enabled again",
  { tags: "sweep" },
  async () => {
    const receiver = await newReceiver();
    await push("hooks/failing", "HEAD~39:refs/heads/main");
    const made = await hook("hooks/failing", { url: receiver.url });
    let left = 2;
    receiver.answer = (_, response) => response.writeHead(left-- > 0 ? 500 : 200).end("x".repeat(10_000));
    for (const back of [38, 37, 36]) await push("hooks/failing", `HEAD~${back}:refs/heads/main`);
    const ids = (await receiver.count(5)).map((request) => read(made.secret, request).id);
    expect(ids).toEqual(["2", "2", "2", "3", "4"]);
    const [last, , , first] = await deliveriesOf("hooks/failing", made);
    expect(last).toMatchObject({ error: null, response: { status: 200, body: "x".repeat(4_096) } });
    expect(first).toMatchObject({ error: "it answered 500", response: { status: 500 } });
    // Sent again as it was.
    const again = await ask<Sent>("POST", `hooks/failing/webhooks/${made.id}/deliveries/${first!.id}/redeliver`);
    expect(again).toMatchObject({ error: null, messageId: first!.messageId, request: { body: first!.request.body } });

    left = Infinity;
    await push("hooks/failing", "HEAD~35:refs/heads/main");
    for (;;) {
      const { disabled } = await ask<{ disabled: string | null }>("GET", `hooks/failing/webhooks/${made.id}`);
      if (disabled !== null) {
        expect(disabled).toMatch(/^it has failed since .*: it answered 500$/);
        break;
      }
      await sleep(200);
    }
    left = 0;
    await push("hooks/failing", "HEAD~34:refs/heads/main");
    const before = receiver.received.length;
    await ask("PATCH", `hooks/failing/webhooks/${made.id}`, { enabled: true });
    const later = (await receiver.count(before + 2)).slice(before);
    expect(later.map((request) => read(made.secret, request).id)).toEqual(["5", "6"]);
  },
);

test(
  "an endpoint that hangs, redirects, floods or is gone delays no other, and is told why",
  { tags: "sweep" },
  async () => {
    const [hanging, redirecting, flooding, gone, fine] = await Promise.all(Array.from({ length: 5 }, newReceiver));
    await push("hooks/bad", "HEAD~39:refs/heads/main");
    hanging!.answer = () => undefined;
    redirecting!.answer = (_, response) => response.writeHead(302, { Location: fine!.url }).end();
    flooding!.answer = (_, response) => response.writeHead(200).end(Buffer.alloc(10_000_000, "x"));
    gone!.answer = (_, response) => response.writeHead(410).end();
    const made = await Promise.all(
      [hanging, redirecting, flooding, gone, fine].map((one) => hook("hooks/bad", { url: one!.url })),
    );
    const pushedMs = Date.now();
    await push("hooks/bad", "HEAD~38:refs/heads/main");
    await push("hooks/bad", "HEAD~37:refs/heads/main");
    const told = await fine!.count(2);
    expect(told.map((request) => read(made[4]!.secret, request).id)).toEqual(["2", "3"]);
    expect(told[1]!.atMs - pushedMs).toBeLessThan(1_000);
    await flooding!.count(2);
    await sleep(1_500);
    const errors = await Promise.all(made.map(async (one) => (await deliveriesOf("hooks/bad", one)).at(-1)!));
    expect(errors.map(({ error }) => error)).toEqual([
      "it did not answer within 1 seconds",
      "it redirects (302), which is not followed",
      null,
      "it answered 410",
      null,
    ]);
    expect(errors[2]!.response!.body.length).toBe(4_096);
    expect(fine!.received.length).toBe(2);
    expect(await ask("GET", `hooks/bad/webhooks/${made[3]!.id}`)).toMatchObject({
      disabled: expect.stringContaining("410"),
    });
  },
);

test("a change writes one row more while there is a webhook, and none before", async () => {
  const receiver = await newReceiver();
  // What a delivery writes comes later, and is not counted.
  receiver.answer = (_, response) => void setTimeout(() => response.writeHead(204).end(), 500);
  await push("hooks/rows", "HEAD~39:refs/heads/main");
  await mostRows(server, "hooks/rows", 1);
  const before = await mostRows(server, "hooks/rows", 6);
  await hook("hooks/rows", { url: receiver.url });
  expect((await mostRows(server, "hooks/rows", 6)) - before).toBe(1);
});

test(
  "the deletion of a repository is told, also when the endpoint or the server is gone for a while",
  { tags: "sweep" },
  async () => {
    const [standard, github, later, off] = await Promise.all(Array.from({ length: 4 }, newReceiver));
    await push("hooks/parting", "HEAD~39:refs/heads/main");
    const made = await hook("hooks/parting", { url: standard!.url, events: ["repository"] });
    await hook("hooks/parting", { url: github!.url, format: "github" });
    const held = await hook("hooks/parting", { url: later!.url });
    const { id } = await hook("hooks/parting", { url: off!.url });
    await ask("PATCH", `hooks/parting/webhooks/${id}`, { enabled: false });
    let left = 1;
    later!.answer = (_, response) => response.writeHead(left-- > 0 ? 500 : 204).end();
    await ask("DELETE", "hooks/parting");
    const told = read(made.secret, (await standard!.count(1))[0]!);
    expect(told).toMatchObject({
      type: "repository",
      id: "1.1",
      data: { action: "deleted", repository: { owner: "hooks", name: "parting" } },
    });
    await later!.count(1);
    const [first, again] = await later!.count(2);
    expect(read(held.secret, again!)).toEqual(read(held.secret, first!));
    expect(again!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
    await sleep(500);
    expect([standard!, github!, later!, off!].map(({ received }) => received.length)).toEqual([1, 0, 2, 0]);
  },
);

test("a deleted webhook is told nothing more, and there are at most twenty", async () => {
  const receiver = await newReceiver();
  await push("hooks/deleted", "HEAD~39:refs/heads/main");
  const made = await hook("hooks/deleted", { url: receiver.url, events: ["repository"] });
  await push("hooks/deleted", "HEAD~38:refs/heads/main");
  await ask("PATCH", "hooks/deleted", { visibility: "public" });
  expect(read(made.secret, (await receiver.count(1))[0]!).type).toBe("repository");
  await ask("DELETE", `hooks/deleted/webhooks/${made.id}`);
  for (let i = 0; i < 20; i++) await hook("hooks/deleted", { url: "http://127.0.0.1:1/" });
  const refused = await askApi(server, "/repos/hooks/deleted/webhooks", {
    method: "POST",
    json: { url: receiver.url },
  });
  expect(refused.status).toBe(409);
});

test("without the setting, an address of this machine is refused, before and when it is asked", async () => {
  const strict = await shareServer("unhooked");
  await git(history, "push", "-q", `${strict.url}/unhooked/repo`, "HEAD:refs/heads/main");
  for (const url of ["http://127.0.0.1/", "http://[::1]/", "http://localhost:8080/", "ftp://example.com/", "x"]) {
    const { status } = await askApi(strict, "/repos/unhooked/repo/webhooks", { method: "POST", json: { url } });
    expect(status, url).toBe(422);
  }
});

test("a webhook whose name leads to this machine is refused when it is asked, and the answer tells nothing", async () => {
  const receiver = await newReceiver();
  const listened = new URL(receiver.url);
  // By the setting any name may be given: what connects is asked all the same.
  const strict = await startServer({ vars: { ALLOW_PRIVATE_HOSTS: "on" }, checksReceivers: true });
  await git(history, "push", "-q", `${strict.url}/unhooked/names`, "HEAD:refs/heads/main");
  const shut = await findFreePort();
  const outcomes = [];
  for (const url of [receiver.url, `http://localhost:${listened.port}/`, `http://127.0.0.1:${shut}/`]) {
    const made = await askApi<Made>(strict, "/repos/unhooked/names/webhooks", { method: "POST", json: { url } });
    const pings = `/repos/unhooked/names/webhooks/${made.body.id}/pings`;
    outcomes.push((await askApi<Sent>(strict, pings, { method: "POST" })).body);
  }
  for (const { response, error } of outcomes) expect([response, error]).toEqual([null, outcomes[0]!.error]);
  expect(outcomes[0]!.error).toContain("could not be reached at a public address");
  expect(receiver.received).toEqual([]);
  await strict.close();
});

test("where webhooks may be in private networks and callers have tokens, no answer's text is shown", async () => {
  const receiver = await newReceiver();
  receiver.answer = (_, response) => response.writeHead(200).end("of an internal service");
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  const strict = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN, ALLOW_PRIVATE_HOSTS: "on" } });
  await askApi(strict, "/repos", { method: "POST", headers, json: { owner: "hooks", name: "inside" } });
  const json = { url: receiver.url };
  const made = await askApi<Made>(strict, "/repos/hooks/inside/webhooks", { method: "POST", headers, json });
  const pings = `/repos/hooks/inside/webhooks/${made.body.id}/pings`;
  const sent = await askApi<Sent>(strict, pings, { method: "POST", headers });
  expect(sent.body).toMatchObject({ error: null, response: { status: 200, body: "" } });
  expect(receiver.received).toHaveLength(1);
  await strict.close();
});
