import type { RepositoryEntry } from "../../../contract/registry.ts";
import { visibleLine } from "./text.ts";
import { Ago, toIso } from "./times.tsx";
import { placeUrl } from "./urls.ts";

/** Repositories, each with what it is for and when it last changed. */
export function RepositoryList({ entries, nowMs }: { entries: readonly RepositoryEntry[]; nowMs: number }) {
  return (
    <ul class="repos">
      {entries.map((entry) => (
        <li>
          <a href={placeUrl(entry)}>
            {entry.owner} / {entry.name}
          </a>{" "}
          {entry.visibility === "private" && <span class="badge">private</span>}
          {entry.parent !== null && (
            <span class="muted">
              {" "}
              fork of <a href={placeUrl(entry.parent)}>{`${entry.parent.owner}/${entry.parent.name}`}</a>
            </span>
          )}
          {entry.description !== null && <p>{visibleLine(entry.description)}</p>}
          {entry.pushedMs !== null && (
            <p class="muted">
              Pushed to <Ago iso={toIso(entry.pushedMs)} nowMs={nowMs} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
