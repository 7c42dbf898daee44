import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { LfsServers } from "./lfs-servers.ts";
import { type LfsFile, uploadFile } from "./lfs-upload.ts";

/** A message from the client. */
type Message =
  | { readonly event: "init"; readonly operation: string }
  | {
      readonly event: "upload";
      readonly oid: string;
      readonly size: number;
      readonly path: string;
      readonly action: { readonly href: string; readonly header?: Readonly<Record<string, string>> } | null;
    }
  | { readonly event: "terminate" };

/** Error code for the client, which shows only the text. */
const FAILED = 1;

/** Serves the client until it ends the session, one file after the other, since it waits for each.
 * The client starts several of these processes in parallel.
 * @see git-lfs, docs/custom-transfers.md */
export async function serveClient(input: Readable, output: Writable): Promise<void> {
  const say = (message: object): void => void output.write(`${JSON.stringify(message)}\n`);
  const servers = new LfsServers();
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const message = JSON.parse(line) as Message;
    if (message.event === "terminate") break;
    if (message.event === "init") {
      const reason = `holdfast sends only uploads, not ${message.operation}s`;
      say(message.operation === "upload" ? {} : { error: { code: FAILED, message: reason } });
      continue;
    }
    const { oid, size, path, action } = message;
    const progress = new ToldProgress(oid, size, say);
    try {
      if (action === null) throw new Error("the server tells no address to send the file to");
      const file: LfsFile = { oid, sizeBytes: size, path, href: action.href, header: action.header ?? {} };
      await uploadFile(servers, file, (bytes) => progress.count(bytes));
      progress.finish();
      say({ event: "complete", oid });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      say({ event: "complete", oid, error: { code: FAILED, message: text } });
    }
  }
  servers.close();
}

/** Reports the sent bytes of a file to the client: the number never decreases, even when bytes are
 * sent again. */
class ToldProgress {
  readonly #oid: string;
  readonly #sizeBytes: number;
  readonly #say: (message: object) => void;
  #sentBytes = 0;
  #toldBytes = 0;

  constructor(oid: string, sizeBytes: number, say: (message: object) => void) {
    this.#oid = oid;
    this.#sizeBytes = sizeBytes;
    this.#say = say;
  }

  count(bytes: number): void {
    this.#sentBytes += bytes;
    this.#tell(Math.min(this.#sentBytes, this.#sizeBytes));
  }

  finish(): void {
    this.#tell(this.#sizeBytes);
  }

  #tell(bytesSoFar: number): void {
    const bytesSinceLast = bytesSoFar - this.#toldBytes;
    if (bytesSinceLast <= 0) return;
    this.#toldBytes = bytesSoFar;
    this.#say({ event: "progress", oid: this.#oid, bytesSoFar, bytesSinceLast });
  }
}
