import { raw } from "hono/html";
import type { CommitRecord } from "../../../contract/commits.ts";
import { arrangeGraph, drawGap, drawRow } from "./commit-graph.ts";
import { shortId, subjectOf, visibleLine, visibleName } from "./text.ts";
import { Ago } from "./times.tsx";
import { commitUrl, pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

const DAY = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" });

/** A commit of a list. */
interface ListedCommit extends CommitRecord {
  /** Byte string: the name of a followed file in this commit; null: no file is followed. */
  readonly path: string | null;
}

/** Commits by day, the newest first.
 * @param path byte string: path of each commit's link to its files; "" for the root
 * @param headingLevel of the days
 * @param lines ids to which lines of history lead from above; null: without a graph */
export function CommitList({
  place,
  commits,
  path,
  lines,
  nowMs,
  headingLevel = 3,
}: {
  place: Pick<PagePlace, "owner" | "name">;
  commits: readonly ListedCommit[];
  path: string;
  lines: readonly string[] | null;
  nowMs: number;
  headingLevel?: 3 | 4;
}) {
  const Heading = `h${headingLevel}` as const;
  const graph = lines === null ? null : arrangeGraph(commits, lines);
  /** Safe: only numbers. */
  const draw = (i: number, how: typeof drawRow) =>
    graph && <td class="graph">{raw(how(graph.rows[i]!, graph.width))}</td>;
  return (
    <table class="list log">
      <caption class="hush">Commits</caption>
      <thead class="hush">
        <tr>
          {graph !== null && <td />}
          <th scope="col">Commit</th>
          <th scope="col">Id</th>
        </tr>
      </thead>
      {byDay(commits).map(({ day, first, end }) => (
        <tbody>
          <tr class="day">
            {draw(first, drawGap)}
            <td colspan={2}>
              <Heading>{DAY.format(Date.parse(day))}</Heading>
            </td>
          </tr>
          {commits.slice(first, end).map((commit, i) => (
            <tr>
              {draw(first + i, drawRow)}
              <td>
                <Commit place={place} commit={commit} followed={path} nowMs={nowMs} />
              </td>
              <td class="id">
                <a href={commitUrl(place, commit.oid)}>
                  <code>{shortId(commit.oid)}</code>
                </a>{" "}
                <a href={pathUrl(place, "tree", commit.oid, commit.path ?? path)}>
                  Files<span class="hush"> at {shortId(commit.oid)}</span>
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

function Commit({
  place,
  commit: { oid, message, author, committer, parents, path },
  followed,
  nowMs,
}: {
  place: Pick<PagePlace, "owner" | "name">;
  commit: ListedCommit;
  followed: string;
  nowMs: number;
}) {
  return (
    <>
      <a class="subject" href={commitUrl(place, oid)}>
        <bdi>{subjectOf(message) || "(no message)"}</bdi>
      </a>
      {parents.length > 1 && (
        <>
          {" "}
          <span class="badge">merge</span>
        </>
      )}
      <div class="muted">
        <bdi>{visibleLine(author.name)}</bdi> · <Ago iso={committer.date} nowMs={nowMs} />
        {path !== null && path !== followed && (
          <>
            {" "}
            · as <bdi>{visibleName(path)}</bdi>
          </>
        )}
      </div>
    </>
  );
}

/** Splits commits into days. The day is in the committer's time zone. */
function byDay(commits: readonly CommitRecord[]): { day: string; first: number; end: number }[] {
  const days: { day: string; first: number; end: number }[] = [];
  for (const [i, { committer }] of commits.entries()) {
    const day = committer.date.slice(0, 10);
    if (days.at(-1)?.day === day) days.at(-1)!.end = i + 1;
    else days.push({ day, first: i, end: i + 1 });
  }
  return days;
}
