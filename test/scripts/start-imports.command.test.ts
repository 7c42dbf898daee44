/** What `npm start` lets imports and webhooks ask. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { expect, test } from "vitest";
import { readStartOptions, type StartOptions } from "../../scripts/start/options.ts";
import { describeServer } from "../../scripts/start/worker-options.ts";
import { NULL_OID_HEX } from "../../src/base/format/oid.ts";
import { encodePkt, FLUSH_PKT } from "../../src/base/format/pkt-line.ts";
import { askApi } from "../harness/api.ts";
import { git } from "../harness/git.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { startUpstream } from "../harness/upstream.ts";
import { StartedServer } from "./started-server.ts";

/** An upstream without refs. */
const EMPTY = Buffer.concat([
  encodePkt("# service=git-upload-pack\n"),
  FLUSH_PKT,
  encodePkt(`${NULL_OID_HEX} capabilities^{}\0thin-pack`),
  FLUSH_PKT,
]);

test("--allow-private-imports lets them ask this machine, with a credential that SECRETS_KEY encrypts", async () => {
  const secrets = join(makeTempDir("secrets"), "vars");
  writeFileSync(secrets, `SECRETS_KEY=${"k".repeat(40)}\n`);
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" }).end(EMPTY);
  });
  const places = ["--port", "0", "--persist-to", makeTempDir("imports"), "--secrets", secrets];
  await using server = await new StartedServer(...places, "--allow-private-imports").ready();
  await askApi(server, "/repos", { method: "POST", json: { owner: "me", name: "engine" } });
  const json = { url: `${upstream.url}/engine.git`, authorization: "Bearer here" };
  expect(await askApi(server, "/repos/me/engine/import", { method: "POST", json })).toMatchObject({ status: 202 });
  const read = async () => (await askApi<{ state: string }>(server, "/repos/me/engine/import")).body;
  await expect.poll(read).toMatchObject({ state: "done", error: null });
  expect(upstream.requests[0]!.headers.authorization).toBe("Bearer here");
  expect(await git(makeTempDir("listed"), "ls-remote", `${server.url}/me/engine`)).toBe("");
  await upstream.close();
});

test("without it they are refused, by their address and again where the runtime connects", async () => {
  const secrets = join(makeTempDir("none"), "vars");
  writeFileSync(secrets, "");
  const options = readStartOptions({
    port: "0",
    ip: "127.0.0.1",
    "persist-to": makeTempDir("outside"),
    secrets,
    "create-on-push": "on",
    worktrees: "none",
    limits: "{}",
    "log-level": "none",
  });
  expect(options.allowPrivateImports).toBe(false);
  const upstream = await startUpstream((_, response) => void response.end("reached"));
  // A name may lead anywhere by the time it is asked: what the Worker asks is checked once more.
  const contents = Buffer.from(`export default { async fetch(request, env) {
      try {
        const { searchParams } = new URL(request.url);
        return await env[searchParams.get("by")].fetch(searchParams.get("url"));
      } catch (error) {
        return new Response("refused: " + error.message);
      }
    } };
    export class RepositoryObject {}
    export class RegistryObject {}
    export class OwnerObject {}`);
  const ask = async (settings: Partial<StartOptions>, by: string, host: string): Promise<string> => {
    const described = describeServer({ ...options, ...settings }, [{ type: "ESModule", path: "/worker.js", contents }]);
    const miniflare = new Miniflare(described);
    try {
      const url = encodeURIComponent(`http://${host}:${new URL(upstream.url).port}/`);
      return await (await miniflare.dispatchFetch(`http://worker/?by=${by}&url=${url}`)).text();
    } finally {
      await miniflare.dispose();
    }
  };
  const [imports, hooks] = [{ allowPrivateImports: true }, { privateHosts: "on" }] as const;
  // Each has a setting of its own.
  expect(await ask({ ...imports, privateHosts: "off" }, "OUTSIDE", "localhost")).toBe("reached");
  expect(await ask({ ...imports, privateHosts: "off" }, "RECEIVERS", "localhost")).toMatch(/^refused: /);
  expect(await ask(hooks, "RECEIVERS", "localhost")).toBe("reached");
  for (const host of ["localhost", "127.0.0.1"]) expect(await ask(hooks, "OUTSIDE", host)).toMatch(/^refused: /);
  await upstream.close();
});
