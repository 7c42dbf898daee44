import { OID_BYTES, toHex } from "../../../base/format/oid.ts";
import { isTreeMode, SYMLINK_MODE, typeOfMode } from "../../../base/format/tree.ts";
import type { ShownDirectory } from "../../../contract/pages.ts";
import { submoduleUrl } from "./submodule-url.ts";
import { shortId, subjectOf, visibleName } from "./text.ts";
import { Ago } from "./times.tsx";
import { commitUrl, pathUrl, withQuery } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** Names and icons of the kinds of entries. */
const KINDS = {
  directory: { icon: "directory", word: "Directory" },
  file: { icon: "file", word: "File" },
  link: { icon: "link", word: "Symbolic link" },
  module: { icon: "module", word: "Submodule" },
} as const;

type Kind = keyof typeof KINDS;

/** A directory to be listed. */
interface Listed {
  readonly place: PagePlace;
  /** As the URL names it. */
  readonly rev: string;
  /** Byte string, "" for the root. */
  readonly path: string;
  readonly shown: ShownDirectory;
  /** Origin of the deployment. */
  readonly origin: string;
  readonly nowMs: number;
}

/** Maximum length of a subject, in characters: each entry that its commit changed repeats it. */
const MAX_SUBJECT = 200;

function cutText(text: string): string {
  return text.length > MAX_SUBJECT ? `${text.slice(0, MAX_SUBJECT)}…` : text;
}

/** A page of a directory's entries, each with the last commit that changed it, and a link to the
 * next page. */
export function FileList({ place, rev, path, shown, origin, nowMs }: Listed) {
  const { directory, modules } = shown;
  const { paths: names, modes, oids } = directory.entries;
  const { commits = [], indexes } = directory.lastCommits ?? {};
  const changes = commits.map(({ oid, message, committer }) => ({
    href: commitUrl(place, oid),
    subject: cutText(subjectOf(message)) || "(no message)",
    date: committer.date,
  }));
  const prefix = path === "" ? "" : `${path}/`;
  return (
    <>
      <table class="list files">
        <TableHead />
        <tbody>
          {path !== "" && <ParentRow place={place} rev={rev} path={path} />}
          {names.map((name, i) => {
            const change = changes[indexes?.[i] ?? -1];
            const [kind, oid] = [kindOf(modes[i]!), toHex(oids, i * OID_BYTES)];
            const from = kind === "module" ? modules.get(name) : undefined;
            const module = { oid, href: from === undefined ? null : submoduleUrl(place, from, oid, origin) };
            return (
              <tr>
                <th scope="row">
                  <Name place={place} rev={rev} path={prefix + name} name={name} kind={kind} module={module} />
                </th>
                <td class="subject cut">{change !== undefined && <a href={change.href}>{change.subject}</a>}</td>
                <td class="when">{change !== undefined && <Ago iso={change.date} nowMs={nowMs} />}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Part here={pathUrl(place, "tree", rev, path)} shown={shown} />
    </>
  );
}

/** The range of entries that is shown, with links to the others; nothing if all are shown. */
function Part({ here, shown: { directory, next } }: { here: string; shown: ShownDirectory }) {
  const { start, total, entries } = directory;
  if (start === 0 && next === null) return null;
  const [from, to] = [start + 1, start + entries.paths.length].map((one) => one.toLocaleString("en"));
  const left = total - start - entries.paths.length;
  return (
    <nav class="row told" aria-label="Parts of the directory">
      <span>
        Entries {from} to {to} of {total.toLocaleString("en")}
      </span>
      {start > 0 && (
        <a class="button" href={here}>
          First entries
        </a>
      )}
      {next !== null && (
        <a class="button" rel="next" href={withQuery(here, { after: next })}>
          More entries ({left.toLocaleString("en")} left)
        </a>
      )}
    </nav>
  );
}

function TableHead() {
  return (
    <>
      <caption class="hush">Files</caption>
      <colgroup>
        <col class="name" />
        <col class="subject" />
        <col class="when" />
      </colgroup>
      <thead class="hush">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Last change</th>
          <th scope="col">When</th>
        </tr>
      </thead>
    </>
  );
}

/** A link to the parent directory. */
function ParentRow({ place, rev, path }: Pick<Listed, "place" | "rev" | "path">) {
  const parent = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
  return (
    <tr>
      <th scope="row">
        <a href={pathUrl(place, "tree", rev, parent)}>
          ..<span class="hush"> (parent directory)</span>
        </a>
      </th>
      <td class="subject" />
      <td class="when" />
    </tr>
  );
}

function Name({
  place,
  rev,
  path,
  name,
  kind,
  module,
}: {
  place: PagePlace;
  rev: string;
  path: string;
  name: string;
  kind: Kind;
  /** The commit of a submodule, and the URL of its page; null: unknown. */
  module: { readonly oid: string; readonly href: string | null };
}) {
  const { icon, word } = KINDS[kind];
  const label = (
    <>
      <Icon name={icon} />
      {kind !== "file" && <span class="hush">{word} </span>}
      <bdi>{visibleName(name)}</bdi>
    </>
  );
  if (kind === "module")
    return (
      <>
        <a href={pathUrl(place, "tree", rev, path)}>{label}</a>{" "}
        {module.href === null ? (
          <code class="muted">@ {shortId(module.oid)}</code>
        ) : (
          <a href={module.href} rel="noopener">
            <span class="hush">{visibleName(name)} </span>
            <code>@ {shortId(module.oid)}</code>
          </a>
        )}
      </>
    );
  return <a href={pathUrl(place, kind === "directory" ? "tree" : "blob", rev, path)}>{label}</a>;
}

function kindOf(mode: number): Kind {
  if (isTreeMode(mode)) return "directory";
  if (typeOfMode(mode) === "commit") return "module";
  return mode === SYMLINK_MODE ? "link" : "file";
}

/** An icon that CSS draws: `class="icon icon-…"`. It only repeats the text beside it. */
function Icon({ name }: { name: "directory" | "file" | "link" | "module" | "branch" | "tag" | "commit" | "lock" }) {
  return <span class={`icon icon-${name}`} aria-hidden="true" />;
}
