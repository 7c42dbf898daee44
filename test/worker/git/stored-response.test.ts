import { expect, test } from "vitest";
import { storedResponse } from "../../../src/worker/git/bundle-file.ts";
import { FaultyChunkStore, NO_FAULTS } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";

const FILE = { key: "k", sizeBytes: 10, etag: "abc", contentType: "application/x-test", cacheControl: "private" };

async function ask(
  method: string,
  headers: Record<string, string>,
): Promise<{ response: Response; text: string; calls: number }> {
  const inner = new MemoryChunkStore();
  await inner.put("k", new TextEncoder().encode("0123456789"));
  const chunks = new FaultyChunkStore(inner, NO_FAULTS);
  const response = await storedResponse(new Request("http://localhost/file", { method, headers }), FILE, chunks);
  return { response, text: await response.text(), calls: chunks.calls.length };
}

test.each([
  ["the whole", {}, 200, "0123456789", "10", null],
  ["a range", { Range: "bytes=2-4" }, 206, "234", "3", "bytes 2-4/10"],
  ["the rest", { Range: "bytes=7-" }, 206, "789", "3", "bytes 7-9/10"],
  ["the end", { Range: "bytes=-2" }, 206, "89", "2", "bytes 8-9/10"],
  ["several ranges: the whole", { Range: "bytes=0-1,4-5" }, 200, "0123456789", "10", null],
  ["a range of these bytes", { Range: "bytes=0-0", "If-Range": '"abc"' }, 206, "0", "1", "bytes 0-0/10"],
  ["a range of others: the whole", { Range: "bytes=0-0", "If-Range": '"x"' }, 200, "0123456789", "10", null],
  ["a weak If-Range: the whole", { Range: "bytes=0-0", "If-Range": 'W/"abc"' }, 200, "0123456789", "10", null],
  [
    "a dated If-Range: the whole",
    { Range: "bytes=0-0", "If-Range": "Fri, 01 Jan 2100 00:00:00 GMT" },
    200,
    "0123456789",
    "10",
    null,
  ],
  ["these bytes", { "If-Match": '"x", "abc"' }, 200, "0123456789", "10", null],
  ["any bytes", { "If-Match": "*" }, 200, "0123456789", "10", null],
  ["other bytes than those", { "If-None-Match": '"x", "y"' }, 200, "0123456789", "10", null],
] as [string, Record<string, string>, number, string, string, string | null][])(
  "%s",
  async (_, headers, status, text, length, range) => {
    const got = await ask("GET", headers);
    expect(got.response.status).toBe(status);
    expect(got.text).toBe(text);
    const head = await ask("HEAD", headers);
    expect(head.text).toBe("");
    expect(head.calls).toBe(0);
    // Ranges apply to GET only.
    expect([head.response.status, head.response.headers.get("Content-Length")]).toEqual([200, "10"]);
    expect(got.response.headers.get("Content-Length")).toBe(length);
    expect(got.response.headers.get("Content-Range")).toBe(range);
    for (const { headers: shown } of [got.response, head.response]) {
      expect(shown.get("ETag")).toBe('"abc"');
      expect(shown.get("Accept-Ranges")).toBe("bytes");
      expect(shown.get("Content-Type")).toBe("application/x-test");
      expect(shown.get("Cache-Control")).toBe("private");
    }
  },
);

test.each(['"abc"', 'W/"abc"', '"x", W/"abc"', "*"])("what a cache has (%s) is not sent again", async (etags) => {
  for (const method of ["GET", "HEAD"]) {
    const { response, text, calls } = await ask(method, { "If-None-Match": etags, Range: "bytes=0-0" });
    expect([response.status, text, calls]).toEqual([304, "", 0]);
    expect(response.headers.get("ETag")).toBe('"abc"');
    expect(response.headers.get("Cache-Control")).toBe("private");
  }
});

test.each(['"x"', 'W/"abc"'])("only these bytes are wanted, and they are not %s", async (etags) => {
  expect((await ask("GET", { "If-Match": etags })).response.status).toBe(412);
});

test("a range beyond the end", async () => {
  const { response } = await ask("GET", { Range: "bytes=10-" });
  expect(response.status).toBe(416);
  expect(response.headers.get("Content-Range")).toBe("bytes */10");
});

test("other methods", async () => {
  const { response } = await ask("POST", {});
  expect(response.status).toBe(405);
  expect(response.headers.get("Allow")).toBe("GET, HEAD");
});

test("an object that is not there is an error, not an empty file", async () => {
  const response = await storedResponse(new Request("http://localhost/file"), FILE, new MemoryChunkStore());
  expect(response.status).toBe(500);
});
