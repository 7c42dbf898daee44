import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decodeBundleHeader, encodeBundleHeader } from "../../../src/base/format/bundle.ts";
import { fromByteString } from "../../../src/base/format/byte-string.ts";
import { fromHex, toHex } from "../../../src/base/format/oid.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

const OID = "0123456789abcdef0123456789abcdef01234567";

/** A bundle by git, and its header as encoded here. */
async function bundleOf(dir: string, ...revisions: readonly string[]): Promise<{ bytes: Buffer; file: string }> {
  const file = join(makeTempDir("bundle"), "made.bundle");
  await git(dir, "bundle", "create", "-q", file, ...revisions);
  return { bytes: readFileSync(file), file };
}

test("a header of git's is read as git reads it, and written again to the byte", async () => {
  const dir = await makeHistory({ commits: 20, files: 5, branches: 3, tags: 2 });
  const { bytes, file } = await bundleOf(dir, "--all");
  const { header, packOffset } = decodeBundleHeader(bytes);
  expect(header.prerequisites).toEqual([]);
  expect(header.names.map((name, i) => `${toHex(header.oids, i * 20)} ${name}`).join("\n")).toBe(
    await git(dir, "bundle", "list-heads", file),
  );
  expect(bytes.subarray(packOffset, packOffset + 4).toString()).toBe("PACK");
  expect(Buffer.compare(encodeBundleHeader(header), bytes.subarray(0, packOffset))).toBe(0);
});

test("prerequisites are read, whatever their comment", async () => {
  const dir = await makeHistory({ commits: 20, files: 5 });
  const { header } = decodeBundleHeader((await bundleOf(dir, "main", "^main~3")).bytes);
  expect(header.prerequisites.map((oid) => toHex(oid))).toEqual([await git(dir, "rev-parse", "main~3")]);
  expect(header.names).toEqual(["refs/heads/main"]);
  const encoded = encodeBundleHeader(header);
  expect(decodeBundleHeader(encoded)).toEqual({ header, packOffset: encoded.length });
  const bare = decodeBundleHeader(fromByteString(`# v2 git bundle\n-${OID}\n\n`));
  expect(bare.header.prerequisites).toEqual([fromHex(OID)]);
});

test.each([
  ["nothing", ""],
  ["another version", `# v3 git bundle\n@object-format=sha1\n${OID} refs/heads/main\n\n`],
  ["no end", `# v2 git bundle\n${OID} refs/heads/main\n`],
  ["a cut line", `# v2 git bundle\n${OID} refs/he`],
  ["no id", "# v2 git bundle\nrefs/heads/main\n\n"],
  ["no name", `# v2 git bundle\n${OID}\n\n`],
  ["no space", `# v2 git bundle\n${OID}refs/heads/main\n\n`],
])("a header with %s is refused", (_, text) => {
  expect(() => decodeBundleHeader(fromByteString(text))).toThrow(expect.objectContaining({ code: "invalid" }));
});
