/** The check of a repository through its API, call by call. */
import { authorization } from "../../test/harness/authorization.ts";

/** What a call answers. */
export interface Report {
  readonly checked: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
  /** Of this call, those that are not listed included. */
  readonly problemCount: number;
  readonly nextCursor: string | null;
}

/** Something that is not as it must be. An `orphan` is no damage. */
export interface Problem {
  readonly kind: string;
  readonly oid?: string;
  readonly chunk?: number;
  readonly key?: string;
  readonly ref?: string;
  readonly detail: string;
}

/** How to check. */
export interface Check {
  /** With its query. */
  readonly url: URL;
  /** How often a call is made that the server cannot serve. */
  readonly attempts: number;
}

/** Where the API checks the repository that git has at a URL.
 * @throws Error when it cannot be one */
export function toCheckUrl(url: string): URL {
  const { origin, pathname } = new URL(url);
  const [, owner, repository, ...rest] = pathname.replace(/\/$/, "").split("/");
  if (owner === undefined || repository === undefined || rest.length > 0) throw new Error(`${url} names no repository`);
  return new URL(`/api/repos/${owner}/${repository.replace(/\.git$/, "")}/fsck`, origin);
}

/** Checks all of a repository, with a report for each call.
 * @throws Error with what the server says */
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
