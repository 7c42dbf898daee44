/** Which doors `npm start` leaves open besides the Worker's: none. */
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_FAILURES } from "../../src/worker/host/identify.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { StartedServer } from "./started-server.ts";

/** What the local runtime is known to serve, and what it served under older names. */
const LOCAL_PATHS = [
  "/cdn-cgi/",
  "/cdn-cgi/live-reload",
  "/cdn-cgi/local/explorer",
  "/cdn-cgi/local/explorer/api/",
  "/cdn-cgi/local/explorer/api/r2/buckets",
  "/cdn-cgi/local/scheduled",
  "/cdn-cgi/local/email?from=a@example.com&to=b@example.com",
  "/cdn-cgi/local/platform-proxy",
  "/cdn-cgi/local/r2/public/holdfast/key",
  "/cdn-cgi/local/r2/s3/holdfast",
  "/cdn-cgi/explorer",
  "/cdn-cgi/explorer/api/",
  "/cdn-cgi/handler/scheduled",
  "/cdn-cgi/handler/email?from=a@example.com&to=b@example.com",
  "/cdn-cgi/mf/scheduled",
  "/cdn-cgi/mf/stream/key",
  "/cdn-cgi/mf/imagedelivery/key",
  "/cdn-cgi/ProxyWorker/play",
  "/cdn-cgi/ProxyWorker/pause",
  "/cdn-cgi/InspectorProxyWorker/websocket",
  "/cdn-cgi/image/width=1/key",
  "/__cf_local/stream/key",
  "/__cf_local/imagedelivery/key",
  "/__cf_local/imageupload/key",
  "/__scheduled",
];

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Asks with whatever headers, Host among them, which `fetch` does not send. */
async function ask(
  origin: string,
  path: string,
  headers: Record<string, string>,
  method = "GET",
  body = "",
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(`${origin}${path}`, { method, headers, agent: false }, (response) => {
    let text = "";
    response.on("data", (chunk: Buffer) => (text += chunk.toString()));
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
  });
  sent.on("upgrade", (response, socket) => {
    socket.destroy();
    resolve({ status: response.statusCode ?? 0, text: "" });
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

const others = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
const lanAddress = others.find(({ internal, family }) => !internal && family === "IPv4")?.address;

describe("a server that listens for everybody, with tokens", () => {
  let server: StartedServer;
  let port: string;

  beforeAll(async () => {
    server = new StartedServer("--port", "0", "--persist-to", makeTempDir("doors"), "--ip", "0.0.0.0");
    ({ port } = new URL((await server.ready()).url));
    expect(server.output).toContain("Requests need a token");
  });

  afterAll(async () => {
    server.kill();
    await server.ended();
  });

  test.each(LOCAL_PATHS)("serves nothing of the runtime's own at %s", async (path) => {
    const wrong: string[] = [];
    const origins = ["127.0.0.1", ...(lanAddress === undefined ? [] : [lanAddress])].map(
      (ip) => `http://${ip}:${port}`,
    );
    const forged = [
      {},
      { Host: "localhost" },
      { Host: `127.0.0.1:${port}` },
      { Host: "[::1]" },
      { Host: "evil.example" },
    ];
    for (const origin of origins) {
      for (const headers of forged) {
        for (const [method, body] of [["GET"], ["POST", "{}"], ["PUT", "x"], ["DELETE"]] as const) {
          const { status, text } = await ask(origin, path, headers, method, body);
          const isRefused = status === 403 && text === "Invalid Host header";
          if (!isRefused && (status !== 404 || text.trim() !== "not found"))
            wrong.push(`${method} ${JSON.stringify(headers)}: ${status} ${text.slice(0, 60)}`);
        }
        const upgrade = { ...headers, Connection: "Upgrade", Upgrade: "websocket" };
        const protocol = "WRANGLER_PROXYWORKER_LIVE_RELOAD_PROTOCOL";
        const key = { "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version": "13" };
        const { status } = await ask(origin, path, { ...upgrade, ...key, "Sec-WebSocket-Protocol": protocol });
        if (status !== 404 && status !== 403) wrong.push(`WebSocket ${JSON.stringify(headers)}: ${status}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("takes nobody's word for the address that a request comes from", async () => {
    const statuses: number[] = [];
    for (let i = 0; i <= MAX_FAILURES; i++) {
      const written = { [i % 2 === 0 ? "CF-Connecting-IP" : "cf-connecting-ip"]: `192.0.2.${i}` };
      const headers = { ...written, "X-Forwarded-For": `192.0.2.${i}`, Authorization: `Bearer wrong-${i}` };
      statuses.push((await ask(`http://127.0.0.1:${port}`, "/api/repos/me", headers)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: MAX_FAILURES }, () => 401), 429]);
    // Whoever comes from another address does not wait.
    if (lanAddress === undefined) return;
    const other = { Authorization: "Bearer wrong", "CF-Connecting-IP": "127.0.0.1" };
    expect((await ask(`http://${lanAddress}:${port}`, "/api/repos/me", other)).status).toBe(401);
  });

  test("takes nobody's word for the address that a request came to", async () => {
    const origin = `http://127.0.0.1:${port}`;
    const meant = (url: string) => ({ "MF-Original-URL": url });
    for (const [path, headers] of [
      ["/healthz", meant("http://localhost/cdn-cgi/local/r2/public/holdfast/key")],
      ["/healthz", meant("http://localhost/api/repos")],
      ["/cdn-cgi/ProxyWorker/play", meant("http://localhost/api/repos")],
      ["/cdn-cgi/ProxyWorker/play", meant("http://localhost/cdn-cgi/local/explorer")],
    ] as const) {
      expect(await ask(origin, path, headers), `${path} ${JSON.stringify(headers)}`).toEqual({
        status: 404,
        text: "not found\n",
      });
    }
    const forgedSecret = { ...meant("http://localhost/api/repos"), "MF-Proxy-Shared-Secret": "guess" };
    expect((await ask(origin, "/healthz", forgedSecret)).status).toBe(404);
    expect((await ask(origin, "/healthz", {})).status).toBe(200);
  });
});

test.each(["0.0.0.0", "::", "192.168.1.2", "git.example.com", "127.example.com", "0", "*"])(
  "npm start does not open %s to everybody",
  async (ip) => {
    const server = new StartedServer("--port", "0", "--ip", ip, "--access", "open");
    const { status } = await server.ended();
    expect(server.output).toContain(`--access open is for this machine alone, and others reach ${ip}`);
    expect(server.output.match(/^Holdfast.*/gm)).toBeNull();
    expect(status).toBe(2);
  },
);

test.each([
  ["::1", "[::1]"],
  ["localhost", "localhost"],
])("npm start is open on %s, which is this machine's alone", async (ip, host) => {
  await using server = new StartedServer("--port", "0", "--persist-to", makeTempDir("doors"), "--ip", ip);
  const { url } = await server.ready();
  expect(server.output).not.toContain("Requests need a token");
  expect(new URL(url).hostname).toBe(host);
  expect((await fetch(`${url}/api/repos`)).status).toBe(200);
});
