/** Webhooks of an owner, with real receivers, read by the libraries that receivers use. */
import { setTimeout as sleep } from "node:timers/promises";
import { Webhooks } from "@octokit/webhooks";
import { Webhook as Verifier } from "standardwebhooks";
import { afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type Received, Receiver } from "../harness/receiver.ts";
import { type Server, startServer } from "../harness/server.ts";

interface Made {
  readonly id: string;
  readonly secret: string;
}
interface Sent {
  readonly id: number;
  readonly messageId: string;
  readonly event: string;
  readonly error: string | null;
}
interface GithubPayload {
  readonly ref?: string;
  readonly repository?: { readonly full_name: string };
  readonly organization?: { readonly login: string };
}
interface Told {
  readonly type: string;
  readonly id: string;
  readonly data: { readonly action?: string; readonly repository: { readonly name: string } };
}

let history: string;
const receivers: Receiver[] = [];

beforeAll(async () => {
  history = await makeHistory({ commits: 40, files: 3 });
});
afterEach(() => {
  for (const receiver of receivers.splice(0)) receiver.close();
});

async function start(constants: Record<string, number> = {}): Promise<Server> {
  const server = await startServer({
    vars: { ALLOW_PRIVATE_HOSTS: "on" },
    constants: { DELIVERY_LEASE_MS: 1_500, FIRST_RETRY_MS: 200, ANSWER_MS: 1_000, FIRST_AGAIN_MS: 300, ...constants },
  });
  onTestFinished(() => server.close());
  return server;
}

async function newReceiver(): Promise<Receiver> {
  const receiver = await Receiver.open();
  receivers.push(receiver);
  return receiver;
}

const push = ({ url }: Server, name: string, ...args: readonly string[]) =>
  git(history, "push", "-q", `${url}/${name}`, ...args);

async function ask<Body>(server: Server, method: string, path: string, json?: unknown): Promise<Body> {
  const { status, body } = await askApi<Body>(server, path, { method, json });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}
const hook = (server: Server, owner: string, json: object) =>
  ask<Made>(server, "POST", `/owners/${owner}/webhooks`, json);
const setStatus = (server: Server, name: string, context: string) =>
  ask(server, "POST", `/repos/${name}/commits/main/statuses`, { state: "success", context });

/** The message of a request in the standard format, if its signature is right. */
const read = (secret: string, { body, headers }: Received): Told =>
  new Verifier(secret).verify(body, { ...headers }) as Told;

test("a webhook is told of each repository, as the libraries of both formats verify", async () => {
  const server = await start();
  const [standard, github, muted] = await Promise.all(Array.from({ length: 3 }, newReceiver));
  await push(server, "all/old", "HEAD~39:refs/heads/main");
  const made = await hook(server, "all", { url: standard!.url });
  const secret = "a secret of twenty characters";
  const asGithub = await hook(server, "All", { url: github!.url, format: "github", secret });
  await hook(server, "all", { url: muted!.url, events: ["status"] });
  await ask(server, "POST", `/owners/all/webhooks/${made.id}/pings`);
  await ask(server, "POST", `/owners/all/webhooks/${asGithub.id}/pings`);
  await push(server, "all/old", "HEAD~38:refs/heads/main");
  await push(server, "all/new", "HEAD~39:refs/heads/main");
  await setStatus(server, "all/old", "ci");
  const messages = (await standard!.count(5)).map((request) => read(made.secret, request));
  const [ping, ...told] = messages;
  expect(ping).toMatchObject({ type: "ping", data: { owner: "all" } });
  const say = ({ data: { repository }, id, type }: Told): string => `${repository.name} ${id} ${type}`;
  expect(told.map(say).toSorted()).toEqual(["new 0 repository", "new 1 push", "old 2 push", "old 2.1 status"]);
  const oid = await git(history, "rev-parse", "HEAD~38");
  expect(told.find((one) => say(one) === "old 2 push")).toMatchObject({
    data: {
      repository: { owner: "all", name: "old", url: `${server.url}/all/old` },
      refs: [{ name: "refs/heads/main", new: oid, commits: [{ oid }] }],
    },
  });
  expect(JSON.parse((await muted!.count(1))[0]!.body)).toMatchObject({ type: "status", data: { context: "ci" } });

  const octokit = new Webhooks({ secret });
  const heard: string[] = [];
  octokit.onAny(({ name, payload }) => {
    const { ref = "", repository, organization } = payload as unknown as GithubPayload;
    heard.push(`${name} ${ref} ${repository?.full_name ?? organization?.login}`);
  });
  for (const { headers, body } of await github!.count(4)) {
    const [id, name, signature] = ["x-github-delivery", "x-github-event", "x-hub-signature-256"].map(
      (header) => headers[header]!,
    ) as [string, string, string];
    await octokit.verifyAndReceive({ id, name, signature, payload: body });
  }
  expect(heard[0]).toBe("ping  all");
  expect(heard.slice(1).toSorted()).toEqual([
    "create main all/new",
    "push refs/heads/main all/new",
    "push refs/heads/main all/old",
  ]);
  const shown = JSON.stringify([
    await ask(server, "GET", "/owners/all/webhooks"),
    await ask(server, "GET", `/owners/all/webhooks/${made.id}/deliveries`),
  ]);
  expect(shown).not.toContain(made.secret.slice("whsec_".length));
});

test(
  "deliveries are listed, repeated and signed anew; a webhook is stopped, goes on where it was, and goes",
  { tags: "sweep" },
  async () => {
    const server = await start();
    const receiver = await newReceiver();
    const made = await hook(server, "kept", { url: receiver.url });
    const path = `/owners/kept/webhooks/${made.id}`;
    await push(server, "kept/one", "HEAD~39:refs/heads/main");
    await receiver.count(2);
    await sleep(100);
    const { deliveries } = await ask<{ deliveries: Sent[] }>(server, "GET", `${path}/deliveries`);
    expect(deliveries.map(({ event, error }) => [event, error])).toEqual([
      ["1", null],
      ["0", null],
    ]);
    const { secret } = await ask<Made>(server, "POST", `${path}/secret`, {});
    const again = await ask<Sent>(server, "POST", `${path}/deliveries/${deliveries[0]!.id}/redeliver`);
    expect(again).toMatchObject({ messageId: deliveries[0]!.messageId, error: null });
    const repeated = (await receiver.count(3))[2]!;
    expect(read(secret, repeated)).toEqual(read(made.secret, repeated));
    await ask(server, "PATCH", path, { enabled: false });
    await push(server, "kept/one", "HEAD~38:refs/heads/main");
    await push(server, "kept/two", "HEAD~39:refs/heads/main");
    await sleep(500);
    expect(receiver.received.length).toBe(3);
    await ask(server, "PATCH", path, { enabled: true });
    const later = (await receiver.count(6)).slice(3).map((request) => read(secret, request));
    expect(later.map(({ id, data }) => `${data.repository.name} ${id}`).toSorted()).toEqual([
      "one 2",
      "two 0",
      "two 1",
    ]);
    await ask(server, "DELETE", path);
    expect((await askApi(server, path)).status).toBe(404);
  },
);

test(
  "an endpoint that fails or hangs delays no other, and messages stay in the order of each repository",
  { tags: "sweep" },
  async () => {
    const server = await start();
    const [failing, hanging, fine] = await Promise.all(Array.from({ length: 3 }, newReceiver));
    const made = await Promise.all([failing, hanging, fine].map((one) => hook(server, "mixed", { url: one!.url })));
    let left = 3;
    failing!.answer = (_, response) => response.writeHead(left-- > 0 ? 500 : 204).end();
    hanging!.answer = () => undefined;
    const names = ["a", "b", "c"];
    const backs = [39, 38, 37, 36];
    const began = Date.now();
    await Promise.all(
      names.map(async (name) => {
        for (const back of backs) await push(server, `mixed/${name}`, `HEAD~${back}:refs/heads/main`);
      }),
    );
    const expected = names.flatMap((name) => ["0", "1", "2", "3", "4"].map((id) => `${name} ${id}`));
    const told = (receiver: Receiver, { secret }: Made): string[] =>
      receiver.received.map((request) => read(secret, request)).map(({ id, data }) => `${data.repository.name} ${id}`);
    const inOrder = (ids: readonly string[]): void => {
      for (const name of names) {
        const own = ids.filter((id) => id.startsWith(name));
        expect(own).toEqual(own.toSorted());
      }
    };
    await fine!.count(expected.length);
    expect(fine!.received.at(-1)!.atMs - began).toBeLessThan(10_000);
    expect(told(fine!, made[2]!).toSorted()).toEqual(expected);
    inOrder(told(fine!, made[2]!));
    await failing!.count(expected.length + 3);
    const heard = told(failing!, made[0]!);
    expect([...new Set(heard)].toSorted()).toEqual(expected);
    inOrder(heard);
  },
);

test(
  "after the server was killed, each event of each repository is delivered, in order",
  { tags: "sweep" },
  async () => {
    const server = await start();
    const receiver = await newReceiver();
    const { secret } = await hook(server, "killed", { url: receiver.url });
    receiver.answer = (_, response) => response.writeHead(Math.random() < 0.3 ? 500 : 204).end();
    const wanted: string[] = [];
    for (let i = 0; i < 16; i++) {
      const name = i % 2 === 0 ? "even" : "odd";
      await push(server, `killed/${name}`, `HEAD~${39 - i}:refs/heads/main`);
      wanted.push(`${name} ${Math.floor(i / 2) + 1}`);
      if (i % 4 === 3) {
        await server.kill();
        await server.restart();
      }
    }
    receiver.answer = (_, response) => response.writeHead(204).end();
    const ids = (): string[] =>
      receiver.received
        .map((request) => read(secret, request))
        .filter(({ type }) => type === "push")
        .map(({ id, data }) => `${data.repository.name} ${id}`);
    for (const endMs = Date.now() + 60_000; Date.now() < endMs; await sleep(200)) {
      // The simulator rings no alarm of an object that nobody has asked since its restart.
      for (const path of ["/repos/killed/even/stats", "/repos/killed/odd/stats", "/owners/killed/webhooks"])
        await ask(server, "GET", path);
      if (new Set(ids()).size === wanted.length) break;
    }
    expect([...new Set(ids())].toSorted()).toEqual(wanted.toSorted());
    for (const name of ["even", "odd"]) {
      const own = ids().filter((id) => id.startsWith(name));
      // Each comes again only at once, or after a failure: never before what was taken.
      expect(own).toEqual(own.toSorted());
    }
  },
);

test("without a webhook and a reader the log ends, and begins anew", { tags: "sweep" }, async () => {
  const server = await start({ LISTEN_LIFE_MS: 1_500, HEARD_STEP_MS: 0 });
  const receiver = await newReceiver();
  const made = await hook(server, "over", { url: receiver.url, events: ["push"] });
  await push(server, "over/one", "HEAD~39:refs/heads/main");
  await receiver.count(1);
  const log = (query = "") =>
    ask<{ events: { id: string }[]; next: string; missed: boolean; since: string }>(
      server,
      "GET",
      `/owners/over/events${query}`,
    );
  const first = await log();
  expect(first).toMatchObject({ events: [{ id: "1" }, { id: "2" }], next: "2", missed: false });
  await sleep(2_500);
  // A webhook keeps it.
  expect((await log()).since).toBe(first.since);
  await ask(server, "DELETE", `/owners/over/webhooks/${made.id}`);
  await sleep(2_500);
  await push(server, "over/one", "HEAD~38:refs/heads/main");
  const second = await log("?after=2");
  expect(second).toMatchObject({ events: [], missed: true });
  expect(Date.parse(second.since)).toBeGreaterThan(Date.parse(first.since));
  await push(server, "over/one", "HEAD~37:refs/heads/main");
  const polled = await log(`?after=${second.next}&wait=10`);
  expect(polled).toMatchObject({ events: [{ repository: { event: "3" } }], missed: false });
});
