import { expect, test } from "vitest";
import { sendLfs } from "../../../src/object/remotes/send-lfs.ts";
import { GitServer } from "../../../src/object/remotes/git-server.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { objectOf } from "../../harness/lfs.ts";

// Without bytes, since a body of bytes needs the runtime: test/e2e/mirror-lfs.test.ts has these.
const object = objectOf("");
const stored = [{ oid: object.oid, sizeBytes: object.size, key: "lfs" }];

interface Asked {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Headers;
}

/** A target at git.example.com that wants the object as the test says.
 * @param actions of the object
 * @param status of the answer to each request of an action */
async function send(actions: object, status = 200) {
  const asked: Asked[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (url.endsWith("/objects/batch")) return Response.json({ objects: [{ oid: object.oid, size: 0, actions }] });
    asked.push({ url, method: init.method, headers: new Headers(init.headers) });
    return new Response(null, { status });
  };
  const target = new GitServer({
    role: "target",
    service: "git-receive-pack",
    url: "https://git.example.com/ada/engine",
    authorization: "Bearer own",
    signal: new AbortController().signal,
    outside: { fetch, allowsPrivate: false, secretsKey: null },
  });
  const sent: string[] = [];
  const refused = await sendLfs(target, stored, new MemoryChunkStore(), ({ oid }) => sent.push(oid));
  return { asked, sent, refusal: refused.get(object.oid) ?? null };
}

const UPLOAD = { href: "https://cdn.example.com/put?signature=1", header: { "X-Own": "1" } };

test.each([
  "http://127.0.0.1/object",
  "http://169.254.169.254/latest/meta-data?signature=1",
  "https://[::1]/object",
  "https://0x7f.1/object",
  "https://localhost/object",
  "https://user:password@cdn.example.com/object",
  "http://cdn.example.com/object",
  "ftp://cdn.example.com/object",
  "/object",
])("%s is not asked, neither to take an object nor to say that it is there", async (href) => {
  const put = await send({ upload: { href } });
  expect([put.asked, put.sent, put.refusal]).toEqual([[], [], expect.stringContaining("wants it elsewhere")]);
  const verified = await send({ upload: UPLOAD, verify: { href } });
  expect(verified.asked.map(({ url }) => url)).toEqual([UPLOAD.href]);
  expect([verified.sent, verified.refusal]).toEqual([[], expect.stringContaining("wants it elsewhere")]);
});

test("the credential is for the target's own origin, where its own header for the object comes first", async () => {
  const { asked, sent } = await send({
    upload: UPLOAD,
    verify: { href: "https://git.example.com/verify", header: { "X-Own": "2" } },
  });
  expect(sent).toEqual([object.oid]);
  expect(
    asked.map(({ url, method, headers }) => [url, method, headers.get("Authorization"), headers.get("X-Own")]),
  ).toEqual([
    [UPLOAD.href, "PUT", null, "1"],
    ["https://git.example.com/verify", "POST", "Bearer own", "2"],
  ]);
});

test("an object without an action is there, and statuses tell refusals from what may pass", async () => {
  expect(await send({})).toEqual({ asked: [], sent: [], refusal: null });
  for (const status of [400, 403, 404, 413, 422, 507])
    expect((await send({ upload: UPLOAD }, status)).refusal).toContain(`it answered ${status}`);
  for (const status of [302, 401, 408, 429, 500, 503])
    await expect(send({ upload: UPLOAD }, status)).rejects.toMatchObject({ code: "unavailable" });
});
