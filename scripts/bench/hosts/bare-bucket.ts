/** A Worker that does nothing but store bodies in the local R2: what R2 alone takes of the time. */
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { findFreePort } from "../../../test/harness/server.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";

const SCRIPT = `export default { async fetch(request, { BUCKET }) {
  await BUCKET.put("object", request.body);
  return new Response();
} };`;

/** Starts the Worker, whose R2 lies on disk.
 * @param stack stops it
 * @returns its URL */
export async function startBareBucket(stack: AsyncDisposableStack): Promise<string> {
  const port = await findFreePort();
  const worker = {
    name: "bare",
    compatibilityDate: "2026-11-01",
    modules: [{ type: "ESModule" as const, path: "bare.mjs", contents: SCRIPT }],
    r2Buckets: ["BUCKET"],
  };
  const r2Persist = makeTempDir("bare");
  const options = { host: "127.0.0.1", port, cf: false as const, r2Persist, workers: [worker] };
  const miniflare = new Miniflare(convertV4MiniflareOptions(options));
  stack.defer(() => miniflare.dispose());
  await miniflare.ready;
  return `http://127.0.0.1:${port}`;
}
