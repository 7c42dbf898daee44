/** Shuts what the local runtime serves besides the Worker, in a process that imports this before it starts one.
 *
 * Below `/cdn-cgi/` and `/__cf_local/` that runtime reads R2 objects, takes mails and runs schedules for whoever forges a loopback Host, and
 * asks for no token; of all that, only the explorer has a switch. The header `MF-Original-URL` has it take a request for one to another Host.
 * So the script by which every request enters is wrapped when it is read: those paths are 404, whatever is there, and so is who says that.
 *
 * There is no way around that script: Miniflare has it listen whatever else does, so that it would be open at
 * another port, and a socket straight to the Worker goes without what the script adds, the client's address. */
import fs from "node:fs";
import { join } from "node:path";

const ENTRY_SCRIPT = join("workers", "core", "entry.worker.js");
const ENTRY_EXPORT = "entry_worker_default as default";

const LOCAL_PATHS = /^\/(cdn-cgi|__cf_local)(\/|$)/;

const GUARD = `
var isAdmitted = ({ url, headers }) => !${LOCAL_PATHS}.test(new URL(url).pathname) && !headers.has("MF-Original-URL");
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
