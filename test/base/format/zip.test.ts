import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { encodeZipDirectoryEntry, encodeZipEnd, encodeZipHeader } from "../../../src/base/format/zip.ts";
import { listZip } from "../../harness/zip-entries.ts";

test("more entries than 16 bits can count are counted in 64", { tags: "sweep" }, async () => {
  const content = new TextEncoder().encode("x");
  const pieces: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let start = 0;
  for (let i = 0; i < 66_000; i++) {
    const entry = {
      path: `file-${i}`,
      mode: 0o100644,
      timeSeconds: 1_700_000_000,
      isDeflated: false,
      isStreamed: false,
      sizeBytes: 1,
      storedBytes: 1,
      crc32: crc32(content),
    };
    directory.push(encodeZipDirectoryEntry(entry, start));
    const header = encodeZipHeader(entry);
    pieces.push(header, content);
    start += header.length + 1;
  }
  const sizeBytes = directory.reduce((sum, { length }) => sum + length, 0);
  const zip = Buffer.concat([...pieces, ...directory, encodeZipEnd(directory.length, start, sizeBytes, "a comment")]);
  // Only one of them is read: each takes the reader a while.
  const lines = await listZip(zip, ({ filename }) => filename === "file-65999");
  expect(lines).toEqual([expect.stringMatching(/^file \w+ file-65999$/), "a comment"]);
});
