/** Webhooks of a server that is killed. It gives none of them up: see `webhooks.test.ts` for
 * that. */
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook as Verifier } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { Receiver } from "../harness/receiver.ts";
import { startServer } from "../harness/server.ts";

test("after the server was killed, each event is delivered, in order", { tags: "sweep" }, async () => {
  const server = await startServer({
    vars: { ALLOW_PRIVATE_HOSTS: "on" },
    constants: { DELIVERY_LEASE_MS: 1_500, FIRST_RETRY_MS: 300, ANSWER_MS: 1_000 },
  });
  onTestFinished(() => server.close());
  const history = await makeHistory({ commits: 40, files: 3 });
  const push = (refspec: string) => git(history, "push", "-q", `${server.url}/hooks/killed`, refspec);
  const receiver = await Receiver.open();
  onTestFinished(() => receiver.close());
  await push("HEAD~39:refs/heads/main");
  const { status, body } = await askApi<{ secret: string }>(server, "/repos/hooks/killed/webhooks", {
    method: "POST",
    json: { url: receiver.url },
  });
  expect(status, JSON.stringify(body)).toBe(201);
  receiver.answer = (_, response) => response.writeHead(Math.random() < 0.3 ? 500 : 204).end();
  const wanted: string[] = [];
  for (let i = 0; i < 20; i++) {
    await push(`HEAD~${38 - i}:refs/heads/main`);
    wanted.push(`${i + 2}`);
    if (i % 5 === 4) {
      await server.kill();
      await server.restart();
    }
  }
  receiver.answer = (_, response) => response.writeHead(204).end();
  // The simulator rings no alarm of an object that nobody has asked since its restart.
  await askApi(server, "/repos/hooks/killed");
  const read = (message: string, headers: Record<string, string>): string =>
    (new Verifier(body.secret).verify(message, headers) as { id: string }).id;
  const ids = (): string[] =>
    receiver.received.map((one) => read(one.body, { ...one.headers } as Record<string, string>));
  const endMs = Date.now() + 60_000;
  while (ids().at(-1) !== wanted.at(-1) && Date.now() < endMs) await sleep(100);
  expect([...new Set(ids())]).toEqual(wanted);
  // Each comes again only at once, or after a failure: never before what was taken.
  expect(ids()).toEqual(ids().toSorted((a, b) => Number(a) - Number(b)));
});
