import { createHash } from "node:crypto";
import { Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from "@zip.js/zip.js";

/** Lists a ZIP: a line for each entry with its kind, the hash of its content, and its name, and
 * finally the comment.
 * @param isWanted selects entries; default: all */
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
    // Git records the mode of links and executable files only.
    const mode = (entry.externalFileAttributes >>> 16) & 0o170111;
    const kind = entry.directory ? "directory" : mode === 0o120111 ? "link" : (mode & 0o111) === 0 ? "file" : "run";
    lines.push(`${kind} ${hash} ${entry.filename}`);
  }
  lines.push(new TextDecoder().decode(reader.comment));
  await reader.close();
  return lines;
}
