import { EVENT_ID } from "../../format/event-id.ts";
import { GitError } from "../../format/errors.ts";
import type { Listener } from "../../repository/deployment.ts";
import { PAGE_HEADERS } from "../parts/page-headers.ts";
import type { PageContext } from "../parts/web-env.ts";

/** How long a stream is silent (ms) before it sends a comment, which shows whether it is still read. */
const BEAT_MS = 25_000;

/** How long a stream lasts (ms). The browser then connects again. */
const LIFE_MS = 5 * 60_000;

/** Events that are looked through at a time. */
const LOOKED_AT = 100;

/** `/{owner}/{repo}/live?after=`: tells a page of each push after an event, and nothing of what was
 * pushed: who hears of it loads the page again. The API has events for programs; it takes no session. */
export async function liveEvents(context: PageContext): Promise<Response> {
  const { owner, name } = context.get("place");
  const after = context.req.header("Last-Event-ID") || (context.req.query("after") ?? "latest");
  if (after !== "latest" && !EVENT_ID.test(after))
    throw new GitError("invalid", { what: "after", reason: "it must be the id of an event" });
  const listener = await context.get("host").listen(owner, name);
  const headers = { ...PAGE_HEADERS, "Content-Type": "text/event-stream", "Cache-Control": "no-store" };
  return new Response(stream(listener, after), { headers });
}

function stream(listener: Listener, from: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const endMs = Date.now() + LIFE_MS;
  let after = from;
  /** @returns what is to be sent; null: nothing has been pushed */
  const look = async (): Promise<string | null> => {
    let isPushed = false;
    for (let more = true; more;) {
      const page = await listener.events({ after, limit: LOOKED_AT });
      ({ next: after, more } = page);
      isPushed ||= page.missed || page.events.some(({ type }) => type === "push");
    }
    return isPushed ? `id: ${after}\ndata: pushed\n\n` : null;
  };
  return new ReadableStream(
    {
      start: (controller) => controller.enqueue(encoder.encode("retry: 2000\n\n")),
      async pull(controller) {
        try {
          while (Date.now() < endMs) {
            const told = listener.isAwake ? await look() : null;
            if (told !== null) return controller.enqueue(encoder.encode(told));
            await listener.wait(BEAT_MS);
            if (!listener.isAwake) return controller.enqueue(encoder.encode(":\n\n"));
          }
        } catch {
          // The visitor's right, or the repository, has gone. Who connects again is told by a status.
        }
        listener.close();
        controller.close();
      },
      cancel: () => listener.close(),
    },
    { highWaterMark: 1 },
  );
}
