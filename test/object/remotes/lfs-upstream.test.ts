import { expect, test } from "vitest";
import { findDownloads, openDownload } from "../../../src/object/remotes/import-lfs.ts";
import { GitServer } from "../../../src/object/remotes/git-server.ts";
import { objectOf } from "../../harness/lfs.ts";

interface Asked {
  readonly url: string;
  readonly headers: Headers;
}

/** An upstream at git.example.com, whose host answers what the test wants. */
function open(answer: (url: string) => Response): { upstream: GitServer; asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    asked.push({ url, headers: new Headers(init.headers) });
    return answer(url);
  };
  const access = {
    url: "https://git.example.com/ada/engine",
    authorization: "Bearer own",
    signal: new AbortController().signal,
  };
  return {
    upstream: new GitServer({
      role: "upstream",
      service: "git-upload-pack",
      ...access,
      outside: { fetch, allowsPrivate: false, secretsKey: null },
    }),
    asked,
  };
}

const object = objectOf("content");
const wanted = [{ oid: object.oid, sizeBytes: object.size }];

test.each([
  "http://127.0.0.1/object",
  "http://169.254.169.254/latest/meta-data?signature=1",
  "https://[::1]/object",
  "https://0x7f.1/object",
  "https://localhost/object",
  "https://user:password@cdn.example.com/object",
  "ftp://cdn.example.com/object",
  "/object",
])("%s is not asked, neither at once nor by a redirect", async (href) => {
  const direct = open(() => new Response("content"));
  await expect(openDownload(direct.upstream, { href })).rejects.toMatchObject({ code: "invalid" });
  expect(direct.asked).toEqual([]);
  // A path is an address of the same host in a redirect.
  if (href.startsWith("/")) return;
  const redirected = open(() => new Response(null, { status: 302, headers: { Location: href } }));
  const first = { href: "https://cdn.example.com/object" };
  await expect(openDownload(redirected.upstream, first)).rejects.toMatchObject({ code: "invalid" });
  expect(redirected.asked).toHaveLength(1);
});

test("redirects end, and none leads from https to http", async () => {
  const endless = open((url) => new Response(null, { status: 302, headers: { Location: `${url}/more` } }));
  await expect(openDownload(endless.upstream, { href: "https://cdn.example.com/a" })).rejects.toThrow(
    "more than 5 times",
  );
  expect(endless.asked).toHaveLength(6);
  const lower = open(() => new Response(null, { status: 302, headers: { Location: "http://cdn.example.com/a" } }));
  await expect(openDownload(lower.upstream, { href: "https://cdn.example.com/a" })).rejects.toThrow("https: to http:");
});

test("the credential is for the upstream's own origin, where its own header for the object comes first", async () => {
  const { upstream, asked } = open(() => new Response("content"));
  await openDownload(upstream, { href: "https://cdn.example.com/a?signature=1", header: { "X-Own": "1" } });
  await openDownload(upstream, { href: "https://git.example.com/a" });
  await openDownload(upstream, { href: "https://git.example.com/a", header: { authorization: "RemoteAuth once" } });
  expect(asked.map(({ headers }) => [headers.get("Authorization"), headers.get("X-Own")])).toEqual([
    [null, "1"],
    ["Bearer own", null],
    ["RemoteAuth once", null],
  ]);
});

test("the batch is asked for beside the repository, and only what was wanted is taken from its answer", async () => {
  const download = { href: "https://cdn.example.com/a" };
  const { upstream, asked } = open(() =>
    Response.json({
      objects: [
        { oid: object.oid, size: 7, actions: { download } },
        { oid: "ab".repeat(32), size: 7, actions: { download } },
        { oid: "no id", size: 7, actions: { download } },
      ],
    }),
  );
  expect(await findDownloads(upstream, wanted)).toEqual(new Map([[object.oid, download]]));
  expect(asked[0]!.url).toBe("https://git.example.com/ada/engine.git/info/lfs/objects/batch");
  expect(asked[0]!.headers.get("Authorization")).toBe("Bearer own");
});

test("objects that the upstream does not have, or for which it sends an error, are left out", async () => {
  for (const answered of [{}, { error: { code: 404 } }, { actions: {} }, { actions: { download: null } }]) {
    const { upstream } = open(() => Response.json({ objects: [{ oid: object.oid, size: 7, ...answered }] }));
    expect(await findDownloads(upstream, wanted)).toEqual(new Map());
  }
});
