/** A server that test files share. The files of a worker run in one process, one after another:
 * what one of them started, the next can use. This saves each of them the start, and compiling what
 * the runtime has compiled by then. */
import { type Server, startServer } from "./server.ts";

/** The token of the operator of a server with `WITH_TOKENS`. */
export const ADMIN_TOKEN = "operator";

/** Variables of a server that asks everyone for a token. */
export const WITH_TOKENS = { ACCESS: "token", ADMIN_TOKEN };

/** By their variables. Nobody closes them: the test runner, like Ctrl-C, ends a worker by a signal,
 * on which Miniflare kills workerd. Their data is in the run's directory. */
const servers = new Map<string, Promise<Server>>();
const owners = new Set<string>();

/** Returns this worker's server with these variables; starts it if there is none. It is for files
 * that only send requests: those that restart a server, measure it, lose its objects, or take what
 * it logs need one of their own.
 * @param owner below whom all of a file's repositories are, and nobody else's
 * @param vars see `ServerOptions`
 * @throws Error if another file has this owner */
export async function shareServer(
  owner: string,
  vars: Readonly<Record<string, string>> = {},
): Promise<Pick<Server, "url">> {
  if (owners.has(owner)) throw new Error(`the owner ${owner} belongs to another test file`);
  owners.add(owner);
  const key = JSON.stringify(vars);
  if (!servers.has(key)) servers.set(key, startServer({ vars }));
  const { url } = await servers.get(key)!;
  return { url };
}
