/** Reading by the API beside the git commands that tell the same from a local repository. */
import { type Sample, toSamples, type Work } from "../figures/sample.ts";
import { type Route, timeGit, timeRequest } from "../work/routes.ts";

/** Where routes are asked. */
export interface Asked {
  /** The server's, without a slash at its end. */
  readonly origin: string;
  /** A local repository that holds the same; null: the API is measured alone. */
  readonly dir: string | null;
}

/** Asks a route a few times in turns with git, after once unrecorded: a round of `ms`. */
export async function measureRoute(
  { path, git }: Route,
  { origin, dir }: Asked,
  { work, round, requests }: { readonly work: Work; readonly round: number; readonly requests: number },
): Promise<Sample[]> {
  const url = `${origin}/api${path}`;
  const samples: Sample[] = [];
  for (let request = 0; request <= requests; request++) {
    const native = dir === null || git === null ? Number.NaN : await timeGit(dir, git);
    const holdfast = await timeRequest(url);
    if (request === 0) continue;
    samples.push(...toSamples(work, "native", round, { ms: native }));
    samples.push(...toSamples(work, "holdfast", round, { ms: holdfast }));
  }
  return samples;
}

/** The first answer after a start of the server: `first ms`. */
export async function measureFirst(
  { path }: Route,
  { origin, work, restart }: { readonly origin: string; readonly work: Work; readonly restart: () => Promise<void> },
): Promise<Sample[]> {
  await restart();
  return toSamples(work, "holdfast", 1, { "first ms": await timeRequest(`${origin}/api${path}`) });
}
