import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";
import type { Env } from "./env.ts";

const app = new Hono<{ Bindings: Env }>();

app.get("/", (context) =>
  context.text("Holdfast: a Git host. Push to it: git push <this URL>/<owner>/<repository>.git main\n"),
);

/** The Worker: routes every request.
 * @see https://developers.cloudflare.com/workers/runtime-apis/handlers/fetch/ */
export default app;

/** One repository: its refs, its object index and its jobs, in the object's own SQLite database. */
export class RepositoryObject extends DurableObject<Env> {}
