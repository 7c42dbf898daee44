import { isGitError } from "../../../base/format/errors.ts";
import type { Activity } from "../../../contract/tally.ts";
import { DAY_SECONDS, formatDay, weekday } from "../../../base/format/calendar.ts";
import { BarChart, HeatChart } from "../parts/charts.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { showPage } from "../parts/show-page.tsx";
import { shortId } from "../parts/text.ts";
import { commitUrl, placeUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

const WEEKS = 53;

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** `/{owner}/{repo}/activity`: commits of the last year by time. */
export async function activityPage(context: PageContext): Promise<Response> {
  const place = context.get("place");
  // Weeks begin on Mondays, as the counts do.
  const today = Math.floor(Date.now() / 1_000 / DAY_SECONDS);
  const monday = today - weekday(today);
  const weeks = Array.from({ length: WEEKS }, (_, i) => formatDay(monday - (WEEKS - 1 - i) * 7));
  const activity = await context
    .get("repository")
    .activity({ ref: "HEAD", since: weeks[0]!, until: formatDay(today + 1), per: "week" })
    .catch((error: unknown) => {
      // A repository without commits has no HEAD.
      if (isGitError(error, "not-found")) return null;
      throw error;
    });
  return showPage(context, {
    title: `Activity · ${place.owner}/${place.name}`,
    content: (
      <>
        <PlaceHeader place={place} tab="activity" />
        <h2>Activity of the last year</h2>
        {activity === null ? (
          <p>There are no commits yet.</p>
        ) : (
          <>
            <p>
              <strong>{activity.total.toLocaleString("en")}</strong> {activity.total === 1 ? "commit" : "commits"} up to{" "}
              <a href={commitUrl(place, activity.commit)}>
                <code>{shortId(activity.commit)}</code>
              </a>
              , by the time at which they were written, where their authors were.{" "}
              <a href={placeUrl(place, "contributors")}>Who wrote them</a>
            </p>
            <Charts activity={activity} weeks={weeks} />
          </>
        )}
      </>
    ),
  });
}

function Charts({ activity: { periods, hours }, weeks }: { activity: Activity; weeks: readonly string[] }) {
  const counts = new Map(periods.map(({ start, commits }) => [start, commits]));
  const bars = weeks.map((week) => ({ label: week, value: counts.get(week) ?? 0 }));
  return (
    <>
      <h3>By week</h3>
      <BarChart bars={bars} caption="Commits by week" labelTitle="Week of" valueTitle="Commits" />
      <h3>By hour</h3>
      <HeatChart
        rows={WEEKDAYS.map((label, day) => ({ label, values: hours[day]! }))}
        caption="Commits by hour of the week"
      />
    </>
  );
}
