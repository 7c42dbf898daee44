import { decodeText } from "../../../base/format/byte-string.ts";
import { Parts, readPart } from "../parts/message-parts.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { showPage } from "../parts/show-page.tsx";
import { visibleLine, visibleName, visibleText } from "../parts/text.ts";
import { Ago } from "../parts/times.tsx";
import { urlParts, commitUrl, tagUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

/** `/{owner}/{repo}/tag/{name}`: a tag with its whole message. */
export async function tagPage(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const name = urlParts(context).join("/");
  const part = readPart(context);
  const tag = await context.get("repository").tag({ name, part });
  const { oid, target, message, messageParts, tagger } = tag;
  return showPage(context, {
    title: `${decodeText(name)} · ${place.owner}/${place.name}`,
    content: (
      <>
        <PlaceHeader place={place} tab="tags" />
        <section class="box commit" aria-labelledby="tag">
          <h2 id="tag">
            <bdi>{visibleName(name)}</bdi>
          </h2>
          {message !== null && (
            <pre class="plain" dir="auto">
              {visibleText(message)}
            </pre>
          )}
          <Parts here={tagUrl(place, name)} part={part} parts={messageParts} />
          <dl class="ids">
            {tagger !== null && (
              <>
                <dt>Tagger</dt>
                <dd>
                  <bdi>{visibleLine(`${tagger.name} <${tagger.email}>`)}</bdi>
                  {tagger.truncated && " (cut)"} · <Ago iso={tagger.date} nowMs={Date.now()} />
                </dd>
              </>
            )}
            <dt>Id</dt>
            <dd>
              <code>{oid}</code>
            </dd>
            <dt>Names the {target.type}</dt>
            <dd>
              {target.type === "commit" ? (
                <a href={commitUrl(place, target.oid)}>
                  <code>{target.oid}</code>
                </a>
              ) : (
                <code>{target.oid}</code>
              )}
            </dd>
          </dl>
        </section>
      </>
    ),
  });
}
