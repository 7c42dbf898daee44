import { createHash } from "node:crypto";
import { Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from "@zip.js/zip.js";

/** Reads a ZIP: a line for each entry with its permissions, the hash of its content, and its name, and last the comment.
 * @param isWanted which entries are read, without it all */
export async function listZip(
  bytes: Uint8Array,
  isWanted: (entry: { readonly filename: string }) => boolean = () => true,
): Promise<string[]> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes), { checkSignature: true, useWebWorkers: false });
  const lines: string[] = [];
  for (const entry of await reader.getEntries()) {
    if (!isWanted(entry)) continue;
    const content = entry.directory ? new Uint8Array(0) : await entry.getData(new Uint8ArrayWriter());
    const hash = createHash("sha1").update(content).digest("hex");
    // git notes the mode of links and of what can be run only.
    const mode = (entry.externalFileAttributes >>> 16) & 0o170111;
    const kind = entry.directory ? "directory" : mode === 0o120111 ? "link" : (mode & 0o111) === 0 ? "file" : "run";
    lines.push(`${kind} ${hash} ${entry.filename}`);
  }
  lines.push(new TextDecoder().decode(reader.comment));
  await reader.close();
  return lines;
}
