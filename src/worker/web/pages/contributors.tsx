import { isGitError } from "../../../base/format/errors.ts";
import { ShareBar } from "../parts/charts.tsx";
import { PAGE_ITEMS, Pager, readStart } from "../parts/pager.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { showPage } from "../parts/show-page.tsx";
import { visibleLine } from "../parts/text.ts";
import { placeUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

/** `/{owner}/{repo}/contributors`: authors of the default branch with their numbers of commits. */
export async function contributorsPage(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const start = readStart(new URL(context.req.url).searchParams);
  const repository = context.get("repository");
  const list = (from: number, limit: number) => repository.contributors({ ref: "HEAD", from, limit });
  const [first, part] = await Promise.all([list(0, 1), list(start, PAGE_ITEMS)]).catch((error: unknown) => {
    // A repository without commits has no HEAD.
    if (isGitError(error, "not-found")) return [null, null];
    throw error;
  });
  const most = first?.contributors[0]?.commits ?? 1;
  return showPage(context, {
    title: `Contributors · ${place.owner}/${place.name}`,
    content: (
      <>
        <PlaceHeader place={place} tab="activity" />
        <h2>Contributors</h2>
        {part === null ? (
          <p>There are no commits yet.</p>
        ) : (
          <>
            <p>
              <strong>{part.total.toLocaleString("en")}</strong> {part.total === 1 ? "person has" : "people have"}{" "}
              written commits. <a href={placeUrl(place, "activity")}>When they were written</a>
            </p>
            <table class="list people">
              <caption class="hush">Contributors, most commits first</caption>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Commits</th>
                  <th scope="col">From, to</th>
                </tr>
              </thead>
              <tbody>
                {part.contributors.map(({ name, commits, first: from, last }) => (
                  <tr>
                    <th scope="row">
                      <bdi>{visibleLine(name) || "(no name)"}</bdi>
                    </th>
                    <td>
                      {commits.toLocaleString("en")}
                      <ShareBar share={commits / most} />
                    </td>
                    <td class="muted">
                      <time dateTime={from}>{from.slice(0, 10)}</time> <time dateTime={last}>{last.slice(0, 10)}</time>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <Pager
              here={placeUrl(place, "contributors")}
              start={start}
              total={part.total}
              first="Most commits"
              further="Fewer"
            />
          </>
        )}
      </>
    ),
  });
}
