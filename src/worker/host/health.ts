import { isGitError } from "../../base/format/errors.ts";
import { logFailure } from "../../base/format/failure-log.ts";
import { explainFailure } from "../../base/failures/known-failures.ts";
import { registryOf } from "./directory.ts";
import { countDamaged } from "./known-damage.ts";
import type { Env } from "../../contract/env.ts";

/** How long an answer is reused, so that frequent checks cost little. */
const CHECK_LIFE_MS = 5_000;

interface Health {
  readonly status: "ok" | "failing";
  /** Null: it works; else the reason why not. */
  readonly registry: string | null;
  readonly bucket: string | null;
  /** Null: this isolate has met no damaged database of a repository; else the number of them. */
  readonly repositories: string | null;
}

let last: { readonly health: Promise<Health>; readonly untilMs: number } | null = null;

/** Answers `GET /healthz`: 200 if registry and bucket answer and no repository was found damaged,
 * else 503 with the reasons. */
export async function serveHealth(env: Env): Promise<Response> {
  const nowMs = Date.now();
  if (last === null || last.untilMs <= nowMs) last = { health: check(env), untilMs: nowMs + CHECK_LIFE_MS };
  const health = await last.health;
  return Response.json(health, {
    status: health.status === "ok" ? 200 : 503,
    headers: { "Cache-Control": "no-store" },
  });
}

async function check(env: Env): Promise<Health> {
  const [registry, bucket] = await Promise.all([
    failureOf("registry", () => registryOf(env).find({ owner: "healthz", name: "healthz" })),
    failureOf("bucket", () => env.BUCKET.head("healthz")),
  ]);
  const damaged = countDamaged();
  const repositories = damaged === 0 ? null : `${damaged} lost or damaged databases: the log names the repositories`;
  const isOk = registry === null && bucket === null && repositories === null;
  return { status: isOk ? "ok" : "failing", registry, bucket, repositories };
}

async function failureOf(what: string, ask: () => Promise<unknown>): Promise<string | null> {
  try {
    await ask();
    return null;
  } catch (error) {
    logFailure(error);
    const cause = explainFailure(error);
    return isGitError(cause) ? cause.message : `the ${what} does not answer`;
  }
}
