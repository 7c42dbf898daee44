/** Requests for every page of a repository, about a hostile history. */
import { PAGE_ROUTES } from "../../src/worker/web/app.ts";
import type { HostileHistory } from "./hostile-draft.ts";
import type { Request } from "./hostile-requests.ts";

/** What is asked of each page that takes more than the repository's name, below its path. */
type Rests = (history: Named) => readonly string[];

interface Named {
  /** Encoded path of a directory with a slash before it, or nothing. */
  readonly directory: string;
  /** Encoded path of a file, with a slash before it. */
  readonly file: string;
  readonly main: string;
}

const RESTS: Readonly<Record<string, Rests>> = {
  tree: ({ directory }) => ["main", `main${directory}`],
  blob: ({ file }) => [`main${file}`, `main${file}?plain`],
  raw: ({ file }) => [`main${file}`],
  blame: ({ file }) => [`main${file}`],
  commits: ({ file }) => ["main", "main?author=Ada", "main?text=subject", `main?path=${file.slice(1)}`, `main${file}`],
  commit: ({ main }) => [main, `${main}?parent=1`, `${main}?part=2`, `${main}.diff`, `${main}.patch`],
  compare: () => ["", "fork...main", "main..fork", "fork...main.diff", "fork...main.patch"],
  archive: () => ["main.tar.gz"],
  feed: ({ file }) => ["commits/main.atom", `commits/main${file}.atom`, "tags.atom"],
  tag: () => ["top", "top?part=2"],
  find: () => ["main", "main?q=a"],
  edit: ({ file }) => [`main${file}`],
  new: ({ directory }) => [`main${directory}`],
  upload: ({ directory }) => [`main${directory}`],
  delete: ({ file }) => [`main${file}`],
};

/** Queries of pages that have a path of their own. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  search: ["", "?q=a", "?q=a.*b&regex=on", "?q=a&rev=fork"],
};

/** Requests for pages, as a browser makes them. A page that never ends is left out. */
export function toPages(name: string, { directory, file, refs }: HostileHistory): Request[] {
  const encode = (path: string): string =>
    path
      .split("/")
      .map((part) => `/${encodeURIComponent(part)}`)
      .join("");
  const named: Named = {
    directory: directory === "" ? "" : encode(directory).slice(0, 6_000),
    file: encode(file).slice(0, 6_000),
    main: refs.get("refs/heads/main")!,
  };
  const base = `/hostile/${name}`;
  return PAGE_ROUTES.filter(({ method }) => method === "GET")
    .filter(({ path }) => path.startsWith("/:owner") && !path.endsWith("/live"))
    .flatMap(({ path }) => {
      const [kind = ""] = path.split("/").slice(3);
      if (path.endsWith("/*") && RESTS[kind] === undefined)
        throw new Error(`${path}: nobody said what to ask of this page`);
      const below = path.replace("/:owner/:repo", base).replace("/:owner", "/hostile");
      const asked = path.endsWith("/*")
        ? RESTS[kind]!(named).map((rest) => below.slice(0, -1) + rest)
        : (QUERIES[kind] ?? [""]).map((query) => below + query);
      return asked.map((one) => ({
        name: `page ${path}`,
        method: "GET",
        path: one,
        headers: { accept: "text/html" },
      }));
    });
}
