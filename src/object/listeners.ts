import { LISTEN_REQUEST, GONE } from "../contract/objects.ts";

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
