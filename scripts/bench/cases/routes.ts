/** Reading by the API beside the git commands that tell the same from a local repository. */
import { type Sample, toSamples, type Work } from "../figures/sample.ts";
import { takeTurns } from "../figures/turns.ts";
import { type Route, timeGit, timeRequest } from "../work/routes.ts";

/** Where a route is asked, and how often. */
export interface Asked {
  /** The server's, without a slash at its end. */
  readonly origin: string;
  /** A local repository that holds the same; null: the API is measured alone. */
  readonly dir: string | null;
  readonly rounds: number;
  /** Starts the server anew: the first answer then is told too. */
  readonly restart?: (() => Promise<void>) | undefined;
}

/** Asks a route again and again, in turns with git: `ms`, and `first ms` after a restart. */
export async function measureRoute(route: Route, work: Work, asked: Asked): Promise<Sample[]> {
  const { origin, dir, rounds, restart } = asked;
  const { path, git: command } = route;
  const url = `${origin}/api${path}`;
  const first: Sample[] = [];
  if (restart !== undefined) {
    await restart();
    first.push(...toSamples(work, "holdfast", 1, { "first ms": await timeRequest(url) }));
  }
  const turns = await takeTurns(work, rounds, {
    ...(dir === null || command === null ? {} : { native: async () => ({ ms: await timeGit(dir, command) }) }),
    holdfast: async () => ({ ms: await timeRequest(url) }),
  });
  return [...first, ...turns];
}
