import { GitError, type GitErrorCode, isGitError } from "../format/errors.ts";
import { MAINTENANCE_KINDS, type MaintenanceKind } from "../repository/maintenance/housekeeping.ts";
import type { MaintenanceStatus } from "../repository/maintenance/status.ts";

/** What the resource needs of a repository, wherever that lives. */
export interface MaintenanceSource {
  /** Null: there is no such repository. */
  status(): Promise<MaintenanceStatus | null>;
  /** Runs jobs now, and says how things are after. */
  maintain(kinds: readonly MaintenanceKind[]): Promise<MaintenanceStatus | null>;
}

/** The status of each failure that can be told here; any other is the server's own. */
const STATUS: Partial<Record<GitErrorCode, number>> = { "bad-request": 400, "not-found": 404, unsupported: 405 };

/** Serves `/api/repos/:owner/:repository/maintenance`: GET tells how housekeeping stands, POST runs it first, narrowed by `?kind=`. */
export async function serveMaintenance(request: Request, source: MaintenanceSource): Promise<Response> {
  try {
    const status = await readOrRun(request, source);
    if (status === null) throw repositoryNotFound();
    return jsonResponse(200, status);
  } catch (error) {
    return maintenanceError(error);
  }
}

/** The failure of a path that names no repository. */
export function repositoryNotFound(): GitError {
  return new GitError("not-found", { what: "repository" });
}

/** Answers with a failure: `{error: {code, message}}`. */
export function maintenanceError(error: unknown): Response {
  if (!isGitError(error) || STATUS[error.code] === undefined) {
    // oxlint-disable-next-line no-console -- the log is where the server's own failures can be mended.
    console.error(error);
    return jsonResponse(500, { error: { code: "internal", message: "internal error" } });
  }
  const headers = error.code === "unsupported" ? { Allow: "GET, HEAD, POST" } : undefined;
  return jsonResponse(STATUS[error.code]!, { error: { code: error.code, message: error.message } }, headers);
}

async function readOrRun(request: Request, source: MaintenanceSource): Promise<MaintenanceStatus | null> {
  if (request.method === "GET" || request.method === "HEAD") return source.status();
  if (request.method !== "POST") throw new GitError("unsupported", { what: request.method });
  const asked = new URL(request.url).searchParams.getAll("kind");
  const kinds = MAINTENANCE_KINDS.filter((kind) => asked.length === 0 || asked.includes(kind));
  const unknown = asked.find((kind) => !(MAINTENANCE_KINDS as readonly string[]).includes(kind));
  if (unknown !== undefined) {
    throw new GitError("bad-request", { reason: `kind is one of ${MAINTENANCE_KINDS.join(", ")}` });
  }
  return source.maintain(kinds);
}

function jsonResponse(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store", ...headers } });
}
