/** Shuts what the local runtime serves besides the Worker; `npm start` has wrangler's process import it.
 *
 * Below `/cdn-cgi/` and `/__cf_local/` that runtime reads R2 objects, takes mails and runs schedules for whoever forges a loopback Host, and
 * asks for no token; of all that, only the explorer has a switch. The header `MF-Original-URL` has it take a request for one to another Host.
 * So the script by which every request enters is wrapped when it is read: those paths are 404, whatever is there, and so is who says that. */
import fs from "node:fs";
import { join } from "node:path";

const ENTRY_SCRIPT = join("workers", "core", "entry.worker.js");
const ENTRY_EXPORT = "entry_worker_default as default";

/** By which wrangler's own processes tell one another what to do; each asks for a secret. */
const INNER_PATHS = /^\/cdn-cgi\/(ProxyWorker|InspectorProxyWorker)\//;
const LOCAL_PATHS = /^\/(cdn-cgi|__cf_local)(\/|$)/;

const GUARD = `
var pathOf = (url) => URL.canParse(url) ? new URL(url).pathname : "";
var isAdmitted = ({ url, headers }) => {
  // Only wrangler says by what address a request came; it shows a secret, which is compared behind this.
  var original = headers.get("MF-Original-URL");
  var paths = original === null ? [pathOf(url)] : [pathOf(url), pathOf(original)];
  if (paths.every((path) => ${INNER_PATHS}.test(path))) return true;
  return !paths.some((path) => ${LOCAL_PATHS}.test(path)) && (original === null || headers.has("MF-Proxy-Shared-Secret"));
};
var guardedEntry = {
  fetch: (request, env, context) =>
    isAdmitted(request) ? entry_worker_default.fetch(request, env, context) : new Response("not found\\n", { status: 404 }),
};
`;

const readFileSync = fs.readFileSync;

fs.readFileSync = ((path: fs.PathOrFileDescriptor, ...rest: [BufferEncoding]) => {
  const content = readFileSync(path, ...rest);
  if (!String(path).endsWith(ENTRY_SCRIPT)) return content;
  if (!content.includes(ENTRY_EXPORT))
    throw new Error(`${String(path)} is not as Holdfast knows it: its paths stay open`);
  return GUARD + content.replace(ENTRY_EXPORT, "guardedEntry as default");
}) as typeof fs.readFileSync;
