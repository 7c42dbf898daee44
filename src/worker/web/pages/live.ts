import { EVENT_ID, COMMENT, HEARTBEAT_MS, STREAM_HEADERS, STREAM_LIFE_MS } from "../../../base/format/event-id.ts";
import { GitError } from "../../../base/format/errors.ts";
import type { Listener } from "../../shared/deployment.ts";
import { PAGE_HEADERS } from "../parts/page-headers.ts";
import type { PageContext } from "../parts/web-env.ts";

/** Maximum number of events read at once. */
const LOOKED_AT = 100;

/** `/{owner}/{repo}/live?after=`: notifies a page of each push after an event, without any detail:
 * the page then loads its content again. Programs have the API's events instead, which accept no
 * session. */
export async function liveEvents(context: PageContext): Promise<Response> {
  const { owner, name } = context.get("place");
  const after = context.req.header("Last-Event-ID") || (context.req.query("after") ?? "latest");
  if (after !== "latest" && !EVENT_ID.test(after))
    throw new GitError("invalid", { what: "after", reason: "it must be the id of an event" });
  const listener = await context.get("host").listen(owner, name);
  const headers = { ...PAGE_HEADERS, ...STREAM_HEADERS };
  return new Response(stream(listener, after), { headers });
}

function stream(listener: Listener, from: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const endMs = Date.now() + STREAM_LIFE_MS;
  let after = from;
  /** Reads new events. @returns the text to send; null: nothing was pushed */
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
            await listener.wait(HEARTBEAT_MS);
            if (!listener.isAwake) return controller.enqueue(encoder.encode(COMMENT));
          }
        } catch {
          // The visitor's right or the repository is gone. The browser learns the reason from the
          // status when it reconnects.
        }
        listener.close();
        controller.close();
      },
      cancel: () => listener.close(),
    },
    { highWaterMark: 1 },
  );
}
