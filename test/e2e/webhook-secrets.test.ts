/** The secrets of webhooks are shown once, and are in no other answer, no page, no log and no
 * message. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { Receiver } from "../harness/receiver.ts";
import { type Server, startServer } from "../harness/server.ts";

const ADMIN_TOKEN = "correct-horse-battery";
const OPERATOR = { Authorization: `Bearer ${ADMIN_TOKEN}` };
const HOOKS = "/repos/secret/hooks/webhooks";
const printed: string[] = [];
let server: Server;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await Receiver.open();
  server = await startServer({
    vars: { ACCESS: "token", ADMIN_TOKEN, ALLOW_PRIVATE_HOSTS: "on" },
    constants: { FIRST_RETRY_MS: 100, ANSWER_MS: 500, DELIVERY_LEASE_MS: 1_000 },
    queue: receiver.url,
    onPrint: (line) => printed.push(line),
  });
});
afterAll(async () => {
  await server.close();
  receiver.close();
});

test("whatever is asked and whatever fails", { tags: "sweep" }, async () => {
  const shown: string[] = [];
  const ask = async <Body>(method: string, path: string, json?: unknown): Promise<Body> => {
    const { body } = await askApi<Body>(server, path, { method, json, headers: OPERATOR });
    shown.push(JSON.stringify(body));
    return body;
  };
  const secrets: string[] = [];
  /** Asks for what shows a secret, this once. */
  const make = async (path: string, json: object): Promise<string> => {
    const answer = await askApi<{ id: string; secret: string }>(server, path, {
      method: "POST",
      json,
      headers: OPERATOR,
    });
    expect(answer.status).toBeLessThan(300);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    secrets.push(answer.body.secret);
    return answer.body.id;
  };
  const history = await makeHistory({ commits: 8, files: 2 });
  const push = (back: number) =>
    git(
      history,
      "push",
      "-q",
      `${server.url.replace("://", `://git:${ADMIN_TOKEN}@`)}/secret/hooks`,
      `HEAD~${back}:refs/heads/main`,
    );
  await push(7);
  let count = 0;
  receiver.answer = (_, response) => response.writeHead(++count % 2 === 0 ? 500 : 200).end("thanks");
  const chosen = "chosen-by-somebody-who-keeps-it";
  const ids = [
    await make(HOOKS, { url: receiver.url }),
    await make(HOOKS, { url: receiver.url, format: "github", secret: chosen }),
    await make(HOOKS, { url: "http://127.0.0.1:1/closed" }),
  ];
  expect(secrets).toContain(chosen);
  for (const id of ids) await make(`${HOOKS}/${id}/secret`, id === ids[1] ? { secret: `${chosen}-again` } : {});
  for (const back of [6, 5, 4]) await push(back);
  for (const id of ids) {
    await ask("POST", `${HOOKS}/${id}/pings`);
    await ask("PATCH", `${HOOKS}/${id}`, { events: ["push"] });
    await ask("PATCH", `${HOOKS}/${id}`, { secret: `${chosen}-refused` });
    await ask("POST", `${HOOKS}/${id}/secret`, { secret: "too short" });
  }
  await sleep(1_500);
  for (const id of ids) {
    await ask("GET", `${HOOKS}/${id}`);
    const { deliveries } = await ask<{ deliveries: { id: number }[] }>("GET", `${HOOKS}/${id}/deliveries`);
    await ask("POST", `${HOOKS}/${id}/deliveries/${deliveries[0]!.id}/redeliver`);
  }
  for (const path of [
    HOOKS,
    "/repos/secret/hooks/events",
    "/repos/secret/hooks/maintenance",
    "/repos/secret/hooks/pushes",
  ])
    await ask("GET", path);
  for (const path of ["settings/webhooks", "settings/pushes", ""]) {
    const headers = { ...OPERATOR, Accept: "text/html" };
    shown.push(await (await fetch(`${server.url}/secret/hooks/${path}`, { headers })).text());
  }
  await ask("DELETE", `${HOOKS}/${ids[0]!}`);
  await server.restart();
  await ask("GET", HOOKS);
  await ask("DELETE", "/repos/secret/hooks");
  await sleep(1_000);

  const sent = receiver.received.map(({ headers, body }) => JSON.stringify(headers) + body);
  expect(sent.length).toBeGreaterThan(8);
  expect(printed.length).toBeGreaterThan(20);
  expect(shown.join("")).toContain("settings/webhooks");
  expect(secrets.length).toBe(6);
  for (const secret of [...secrets, ADMIN_TOKEN]) {
    const bare = secret.replace("whsec_", "");
    const known = { answers: shown, log: printed, messages: sent };
    for (const [where, texts] of Object.entries(known))
      expect(
        texts.filter((text) => text.includes(bare)),
        `${where} with ${secret}`,
      ).toEqual([]);
  }
});
