/** Closes what the local runtime serves besides the Worker. The process must import this before it
 * starts a runtime.
 *
 * Below `/cdn-cgi/` and `/__cf_local/` that runtime reads R2 objects, takes mails and runs
 * schedules for any client that forges a loopback Host, without a token. Only the explorer among
 * these can be switched off. The header `MF-Original-URL` makes the runtime take a request for one
 * to another Host. So this module wraps the script that all requests enter by when it is read:
 * those paths answer 404, always, and so do requests with that header.
 *
 * The header `CF-Connecting-IP` has the client's address, by which wrong tokens are counted. The
 * platform writes it itself; that runtime keeps what a client wrote. So it is taken off, and the
 * script sets it from the connection.
 *
 * The script cannot be bypassed. Miniflare always lets it listen, so that it would be open at
 * another port, and a socket straight to the Worker lacks what the script adds, the client's
 * address. */
import fs from "node:fs";
import { join } from "node:path";

const ENTRY_SCRIPT = join("workers", "core", "entry.worker.js");
const ENTRY_EXPORT = "entry_worker_default as default";

const LOCAL_PATHS = /^\/(cdn-cgi|__cf_local)(\/|$)/;

const GUARD = `
var isAdmitted = ({ url, headers }) => !${LOCAL_PATHS}.test(new URL(url).pathname) && !headers.has("MF-Original-URL");
var guardedEntry = {
  fetch(request, env, context) {
    if (!isAdmitted(request)) return new Response("not found\\n", { status: 404 });
    if (!request.headers.has("CF-Connecting-IP")) return entry_worker_default.fetch(request, env, context);
    const own = new Request(request, { cf: request.cf });
    own.headers.delete("CF-Connecting-IP");
    return entry_worker_default.fetch(own, env, context);
  },
};
`;

const readFileSync = fs.readFileSync;

fs.readFileSync = ((path: fs.PathOrFileDescriptor, ...rest: [BufferEncoding]) => {
  const content = readFileSync(path, ...rest);
  if (!String(path).endsWith(ENTRY_SCRIPT)) return content;
  if (!content.includes(ENTRY_EXPORT))
    throw new Error(`${String(path)} has changed: Holdfast cannot close the runtime's own paths`);
  return GUARD + content.replace(ENTRY_EXPORT, "guardedEntry as default");
}) as typeof fs.readFileSync;
