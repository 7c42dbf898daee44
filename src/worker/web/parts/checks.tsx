import type { CommitStatuses } from "../../../contract/events.ts";
import { visibleLine } from "./text.ts";

/** What checks say of a commit, in its list of facts; nothing if there are none. */
export function Checks({ checks: { state, statuses } }: { checks: CommitStatuses }) {
  if (statuses.length === 0) return null;
  return (
    <>
      <dt>Checks</dt>
      <dd>
        <details open={state === "failure"}>
          <summary>
            <span class="badge">{state}</span> {statuses.length} {statuses.length === 1 ? "check" : "checks"}
          </summary>
          <ul>
            {statuses.map((status) => (
              <li>
                <span class="badge">{status.state}</span> <CheckName status={status} />
                {status.description !== null && <bdi>: {visibleLine(status.description)}</bdi>}
              </li>
            ))}
          </ul>
        </details>
      </dd>
    </>
  );
}

function CheckName({ status: { context, url } }: { status: CommitStatuses["statuses"][number] }) {
  const name = <bdi>{visibleLine(context)}</bdi>;
  return url === null ? (
    name
  ) : (
    <a href={url} rel="nofollow noreferrer">
      {name}
    </a>
  );
}

/** What changes when a status is set: part of a page's entity tag. */
export function versionOf({ statuses }: CommitStatuses): string {
  const times = statuses.map(({ timestamp }) => Date.parse(timestamp));
  return `${statuses.length}.${times.reduce((a, b) => Math.max(a, b), 0)}`;
}
