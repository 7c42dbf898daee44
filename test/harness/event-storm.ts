// Many events of one repository, told to endpoints of every bad kind while the server is killed
// again and again; and what must be true of it afterwards.
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook as Verifier } from "standardwebhooks";
import { expect } from "vitest";
import type { EventPage, RepositoryEventRecord } from "../../src/contract/events.ts";
import { askApi } from "./api.ts";
import { Random } from "./random.ts";
import { type Received, Receiver } from "./receiver.ts";
import { type Server, startServer } from "./server.ts";

const NAME = "storm/events";
const ADA = { name: "Ada", email: "ada@example.com" };

/** Who makes events at the same time, each on a branch of its own. */
const WRITERS = 8;

/** Events in the log that are commits; the others are statuses. */
const COMMITS = 0.5;

const FLOOD = Buffer.alloc(10_000_000, "x");

/** An endpoint, and what it has taken. */
interface Endpoint {
  readonly name: string;
  readonly receiver: Receiver;
  /** All messages that have come, with a signature that was right when they came. */
  readonly told: readonly Told[];
  /** Those that were taken. */
  readonly taken: readonly Received[];
}

interface Told {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}

/** Makes so many events, and checks that each endpoint that ever answers is told of each.
 * @param kills of the server meanwhile
 * @returns how it went, in a line */
export async function runStorm(events: number, kills: number, seed: number): Promise<string> {
  const random = new Random(seed);
  const server = await startServer({
    vars: { ALLOW_PRIVATE_HOSTS: "on" },
    constants: { DELIVERY_LEASE_MS: 500, FIRST_RETRY_MS: 10, LONGEST_RETRY_MS: 200, ANSWER_MS: 300 },
  });
  const receivers: Receiver[] = [];
  try {
    const startMs = Date.now();
    const before = await begin(server);
    const victim = await Receiver.open();
    receivers.push(victim);
    const endpoints: Endpoint[] = [];
    for (const [name, answer] of Object.entries(answers(random, victim.url)))
      endpoints.push(await addEndpoint(server, name, answer, receivers));
    const acknowledged = await makeEvents(server, events, kills);
    const madeMs = Date.now() - startMs;
    const log = await readLog(server, before);
    const pushed = new Set(log.filter(({ type }) => type === "push").flatMap(({ data }) => newIds(data).flat()));
    expect(acknowledged.filter((oid) => !pushed.has(oid))).toEqual([]);
    const told = endpoints.filter(({ name }) => name !== "redirects");
    await awaitLast(server, told, log.at(-1)!.id);
    for (const endpoint of told) checkTold(endpoint, log);
    expect(victim.received).toEqual([]);
    const counts = told.map(({ name, receiver }) => `${name} ${receiver.received.length}`);
    return `${log.length} events in ${madeMs} ms, told after ${Date.now() - startMs} ms, with ${kills} kills; requests: ${counts.join(", ")}`;
  } finally {
    for (const receiver of receivers) receiver.close();
    await server.close();
  }
}

/** What the endpoints do with a request. */
function answers(random: Random, elsewhere: string): Record<string, (response: ServerResponse) => boolean> {
  const take = (response: ServerResponse, body: Buffer | string = ""): boolean => {
    response.writeHead(200).end(body);
    return true;
  };
  const refuse = (response: ServerResponse, status: number): boolean => {
    response.writeHead(status, { Location: elsewhere }).end();
    return false;
  };
  return {
    takes: (response) => take(response),
    fails: (response) => (random.below(3) === 0 ? refuse(response, 500) : take(response)),
    cuts: (response) => {
      if (random.below(20) > 0) return take(response);
      response.destroy();
      return false;
    },
    hangs: (response) => (random.below(100) === 0 ? false : take(response)),
    floods: (response) => take(response, random.below(50) === 0 ? FLOOD : ""),
    redirects: (response) => refuse(response, 302),
  };
}

async function addEndpoint(
  server: Server,
  name: string,
  answer: (response: ServerResponse) => boolean,
  receivers: Receiver[],
): Promise<Endpoint> {
  const receiver = await Receiver.open();
  receivers.push(receiver);
  const taken: Received[] = [];
  const told: Told[] = [];
  const { body: made } = await askApi<{ secret: string }>(server, `/repos/${NAME}/webhooks`, {
    method: "POST",
    json: { url: receiver.url },
  });
  const verifier = new Verifier(made.secret);
  receiver.answer = (request, response) => {
    told.push(verifier.verify(request.body, { ...request.headers }) as Told);
    if (answer(response)) taken.push(request);
  };
  return { name, receiver, told, taken };
}

/** Makes events by several writers, and kills the server at even distances.
 * @returns ids of the commits that were acknowledged */
async function makeEvents(server: Server, events: number, kills: number): Promise<string[]> {
  const acknowledged: string[] = [];
  let made = 0;
  const write = async (writer: number): Promise<void> => {
    const random = new Random(writer);
    while (made < events) {
      try {
        if (random.below(1_000) < 1_000 * COMMITS) acknowledged.push(await commit(server, branchOf(writer)));
        else await setStatus(server, `context-${writer}`, made);
        made += 1;
      } catch {
        // The server was killed meanwhile: whether it has happened, the log tells.
        await sleep(50);
      }
    }
  };
  const kill = async (): Promise<void> => {
    for (let i = 1; i <= kills; i++) {
      while (made < (i * events) / (kills + 1)) await sleep(5);
      await server.kill();
      await server.restart();
    }
  };
  await Promise.all([kill(), ...Array.from({ length: WRITERS }, (_, i) => write(i))]);
  return acknowledged;
}

const branchOf = (writer: number): string => `branch-${writer}`;

async function commit(server: Server, branch: string): Promise<string> {
  const operations = [{ op: "put", path: "file", content: `${branch} ${performance.now()}` }];
  const json = { branch, message: "m", author: ADA, operations };
  const { status, body } = await askApi<{ commit: string }>(server, `/repos/${NAME}/commits`, { method: "POST", json });
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body.commit;
}

/** Makes the repository and its branches.
 * @returns the place in the log after that */
async function begin(server: Server): Promise<string> {
  const [owner, name] = NAME.split("/");
  await askApi(server, "/repos", { method: "POST", json: { owner, name } });
  await commit(server, "main");
  for (let i = 0; i < WRITERS; i++)
    await askApi(server, `/repos/${NAME}/branches`, {
      method: "POST",
      json: { name: branchOf(i), startPoint: "main" },
    });
  return (await askApi<EventPage>(server, `/repos/${NAME}/events?after=latest`)).body.next;
}

async function setStatus(server: Server, context: string, number: number): Promise<void> {
  const json = { state: "pending", context, description: `${number}` };
  const { status } = await askApi(server, `/repos/${NAME}/commits/main/statuses`, { method: "POST", json });
  if (status >= 300) throw new Error(`it answered ${status}`);
}

/** Asks again when a connection from before a kill was used. */
async function insist<Body>(server: Server, path: string): Promise<Body> {
  for (let tries = 1; ; tries++) {
    try {
      return (await askApi<Body>(server, path)).body;
    } catch (error) {
      if (tries === 5) throw error;
      await sleep(100);
    }
  }
}

/** The whole log after a place. */
async function readLog(server: Server, from: string): Promise<RepositoryEventRecord[]> {
  const log: RepositoryEventRecord[] = [];
  for (let after = from; ;) {
    const body = await insist<EventPage>(server, `/repos/${NAME}/events?limit=100&after=${after}`);
    expect(body.missed).toBe(false);
    log.push(...body.events);
    if (!body.more) return log;
    after = body.next;
  }
}

async function awaitLast(server: Server, endpoints: readonly Endpoint[], last: string): Promise<void> {
  const isTold = ({ taken }: Endpoint): boolean => taken.at(-1)?.body.includes(`"id":"${last}"`) === true;
  let before = -1;
  while (!endpoints.every(isTold)) {
    // The simulator rings no alarm of an object that nobody has asked since its restart.
    await insist(server, `/repos/${NAME}/webhooks`);
    const count = endpoints.reduce((sum, { receiver }) => sum + receiver.received.length, 0);
    if (count === before) throw new Error(`nothing comes any more, but ${last} has not come to all`);
    before = count;
    for (let i = 0; i < 60 && !endpoints.every(isTold); i++) await sleep(100);
  }
}

/** Each event at least once, none that is not in the log as it was told, and in the order of the
 * log. */
function checkTold({ name, told, taken }: Endpoint, log: readonly RepositoryEventRecord[]): void {
  const placeOf = new Map(log.map(({ id }, i) => [id, i]));
  for (const { id, type, timestamp, data } of told) {
    const event = log[placeOf.get(id) ?? -1];
    expect([type, timestamp], `${name}: ${id} is not in the log so`).toEqual([event?.type, event?.timestamp]);
    if (type === "push") expect(newIds(data), name).toEqual(newIds(event!.data));
    else expect(data, name).toMatchObject(event!.data);
  }
  const places = taken.map(({ body }) => placeOf.get((JSON.parse(body) as Told).id)!);
  expect(new Set(places).size, `${name}: events that were taken`).toBe(log.length);
  const inOrder = places.filter((place, i) => place !== places[i - 1]);
  expect(inOrder, `${name}: the order`).toEqual(log.map((_, i) => i));
}

const newIds = (data: Readonly<Record<string, unknown>>) =>
  (data["refs"] as { name: string; new: string }[]).map((ref) => [ref.name, ref.new]);
