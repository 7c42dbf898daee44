import { answerError } from "./error.ts";

/** Time (ms) after which a response begins without its content: proxies cut connections that stay
 * idle for a minute or two. */
const BEGIN_AFTER_MS = 20_000;

/** Interval between two spaces (ms). */
const SPACE_EVERY_MS = 10_000;

const SPACE = new TextEncoder().encode(" ");

/** Answers with JSON that may take minutes. If it is not ready after `BEGIN_AFTER_MS`, the response
 * begins with the status 202, spaces follow, and the JSON at the end is the content or has the key
 * `error`. */
export async function answerLate(content: Promise<unknown>): Promise<Response> {
  const answer = content.then((value) => Response.json(value), answerError);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), BEGIN_AFTER_MS);
  });
  const first = await Promise.race([answer, late]);
  clearTimeout(timer);
  return first ?? new Response(spaced(answer), { status: 202, headers: { "Content-Type": "application/json" } });
}

function spaced(answer: Promise<Response>): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      timer = setInterval(() => controller.enqueue(SPACE), SPACE_EVERY_MS);
      void answer
        .then((response) => response.arrayBuffer())
        .then((json) => {
          clearInterval(timer);
          controller.enqueue(new Uint8Array(json));
          controller.close();
        })
        // The client has disconnected.
        .catch(() => clearInterval(timer));
    },
    cancel: () => clearInterval(timer),
  });
}
