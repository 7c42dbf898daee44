/** Checks a repository through its API, call by call. */
import { authorization } from "../../test/harness/authorization.ts";

/** The answer of one call. */
export interface Report {
  readonly checked: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
  /** All problems of this call, including those not listed. */
  readonly problemCount: number;
  readonly nextCursor: string | null;
}

/** A violated rule. An `orphan` is not damage. */
export interface Problem {
  readonly kind: string;
  readonly oid?: string;
  readonly chunk?: number;
  readonly key?: string;
  readonly ref?: string;
  readonly detail: string;
}

/** The settings of a check. */
export interface Check {
  /** Including the query. */
  readonly url: URL;
  /** Attempts per call while the server fails. */
  readonly attempts: number;
}

/** The API's URL that checks the repository at a URL of git's.
 * @throws Error if it cannot be a repository's URL */
export function toCheckUrl(url: string): URL {
  const { origin, pathname } = new URL(url);
  const [, owner, repository, ...rest] = pathname.replace(/\/$/, "").split("/");
  if (owner === undefined || repository === undefined || rest.length > 0) throw new Error(`${url} names no repository`);
  return new URL(`/api/repos/${owner}/${repository.replace(/\.git$/, "")}/fsck`, origin);
}

/** Checks a whole repository. Yields a report for each call.
 * @throws Error with the server's message */
export async function* checkRepository(check: Check): AsyncGenerator<Report> {
  const url = new URL(check.url);
  for (let cursor: string | null = ""; cursor !== null;) {
    if (cursor !== "") url.searchParams.set("cursor", cursor);
    const report = await call({ ...check, url });
    yield report;
    cursor = report.nextCursor;
  }
}

/** A problem as a line. */
export function describeProblem({ kind, oid, chunk, key, ref, detail }: Problem): string {
  const subject = [ref, oid, chunk === undefined ? undefined : `chunk ${chunk}`, key];
  return `${kind} ${subject.filter((part) => part !== undefined).join(" ")}: ${detail}`;
}

async function call({ url, attempts }: Check): Promise<Report> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, { method: "POST", headers: authorization() });
    if (response.ok) return (await response.json()) as Report;
    const text = await response.text();
    if (response.status < 500 || attempt === attempts) throw new Error(`${response.status} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000 * attempt));
  }
}
