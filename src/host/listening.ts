// How a Worker hears from a repository's object that something has happened: over a WebSocket that
// the platform keeps while the object sleeps, so that an idle listener costs no object time. A
// message says nothing but that: the Worker then reads the log, with the caller's rights of that
// moment.

/** The status with which an object refuses a request because it is not a repository, returning a
 * push's body unread: the name may lead elsewhere by now. Clients never see it. */
export const GONE = 410;

/** The request that begins to listen. No push has this path. */
export const LISTEN_REQUEST = { url: "https://holdfast/-/listen", headers: { Upgrade: "websocket" } } as const;

/** The most listeners of one repository: the platform takes 32,768, and each event is a message to
 * every one of them. */
const MAX_LISTENERS = 10_000;

/** Whether a request to an object begins to listen. */
export function isListening({ url }: Pick<Request, "url">): boolean {
  return url === LISTEN_REQUEST.url;
}

/** Admits a listener to an object.
 * @param isRepository whether the object has a repository */
export function admitListener(context: DurableObjectState, isRepository: boolean): Response {
  if (!isRepository) return new Response(null, { status: GONE });
  if (context.getWebSockets().length >= MAX_LISTENERS) return new Response(null, { status: 503 });
  const { 0: theirs, 1: ours } = new WebSocketPair();
  context.acceptWebSocket(ours);
  return new Response(null, { status: 101, webSocket: theirs });
}

/** Wakes an object's listeners. */
export function wakeListeners(context: DurableObjectState): void {
  for (const socket of context.getWebSockets()) {
    try {
      socket.send("");
    } catch {
      // It has just been closed; the platform forgets it.
    }
  }
}
