import type { CommitRecord } from "../../../contract/commits.ts";
import { shortId, subjectOf, visibleLine } from "./text.ts";
import { Ago } from "./times.tsx";
import { commitUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** A commit in one line: author, subject, id and time. */
export function CommitLine({ place, commit, nowMs }: { place: PagePlace; commit: CommitRecord; nowMs: number }) {
  const { author, committer, oid, message } = commit;
  return (
    <>
      <strong>
        <bdi>{visibleLine(author.name)}</bdi>
      </strong>
      <a href={commitUrl(place, oid)}>
        <bdi>{subjectOf(message) || "(no message)"}</bdi>
      </a>
      <span class="push muted">
        <a href={commitUrl(place, oid)}>
          <code>{shortId(oid)}</code>
        </a>{" "}
        <Ago iso={committer.date} nowMs={nowMs} />
      </span>
    </>
  );
}
