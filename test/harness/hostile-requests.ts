/** Requests about hostile histories: every route of the API, and every kind of fetch. */
import type { OpenApiDocument, Operation } from "../../src/worker/web/api-docs/open-api.ts";
import type { HostileHistory } from "./hostile-draft.ts";
import { encodeRequest } from "./transcript.ts";

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
const PERSON = { name: "Ada", email: "ada@example.com" };

/** A request, and what its answer must be. */
export interface Request {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Expected statuses; default: any below 500. */
  readonly statuses?: readonly string[];
  /** Expected content of the response. */
  readonly answer?: RegExp;
}

/** One or more requests for each route of the document; deletions come last.
 * @param upload id of an upload that has begun */
export function toCalls(document: OpenApiDocument, name: string, upload: string, history: HostileHistory): Request[] {
  const requests: Request[] = [];
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS) {
      const operation = (methods as Record<string, Operation>)[method];
      if (operation === undefined) continue;
      const statuses = Object.keys(operation.responses ?? {});
      for (const filled of fillPaths(path, history, { name, upload })) {
        for (const query of method === "get" ? queriesOf(operation, history, name) : [""]) {
          requests.push({
            name: `${method} ${path}${query.replaceAll(/=[^&]*/g, "")}`,
            method: method.toUpperCase(),
            path: `/api${filled}${query}`,
            statuses,
            ...bodyOf(`${method} ${path}`, operation, history),
          });
        }
      }
    }
  }
  const rank = ({ method, path }: Request): number => (method === "DELETE" ? 1_000 - path.length : 0);
  return requests.toSorted((a, b) => rank(a) - rank(b));
}

/** The push of a history. */
export function toPush(name: string, { refs, pack }: HostileHistory): Request {
  const lines = [...refs].map(([ref, oid], i) => {
    const line = `${"0".repeat(40)} ${oid} ${ref}${i === 0 ? "\0 report-status" : ""}`;
    return (line.length + 4).toString(16).padStart(4, "0") + line;
  });
  return {
    name: "push",
    method: "POST",
    path: `/hostile/${name}.git/git-receive-pack`,
    headers: { "content-type": "application/x-git-receive-pack-request" },
    body: Buffer.concat([Buffer.from(`${lines.join("")}0000`), pack]),
    statuses: ["200"],
    answer: /unpack ok/,
  };
}

/** Fetches of every kind in the protocol. */
export function toFetches(name: string, { refs, oids }: HostileHistory): Request[] {
  const main = refs.get("refs/heads/main")!;
  const fork = refs.get("refs/heads/fork")!;
  const all = [...new Set(refs.values())].slice(0, 2_000).map((oid) => `want ${oid}`);
  const fetchAs = (kind: string, ...lines: readonly string[]): Request => ({
    name: `fetch ${kind}`,
    method: "POST",
    path: `/hostile/${name}.git/git-upload-pack?${encodeURIComponent(kind)}`,
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: new Uint8Array(encodeRequest("command=fetch", "delim", "ofs-delta", ...lines, "done", "flush")),
    statuses: ["200"],
  });
  const old = encodeRequest(`want ${main} ofs-delta include-tag no-progress`, ...all, "flush", "done");
  return [
    { name: "ls-refs", method: "GET", path: `/hostile/${name}.git/info/refs?service=git-upload-pack` },
    fetchAs("clone", "include-tag", ...all),
    fetchAs("one branch with tags", "include-tag", `want ${main}`),
    fetchAs("shallow", "deepen 1", `want ${main}`),
    fetchAs("deeper", "deepen 2", `shallow ${main}`, `want ${main}`),
    fetchAs("no blobs", "filter blob:none", ...all),
    fetchAs("no trees", "filter tree:0", ...all),
    fetchAs("few trees", "filter tree:3", `want ${main}`),
    fetchAs("sparse", `filter sparse:oid=${oids.blob ?? main}`, `want ${main}`),
    fetchAs("increment", "thin-pack", `want ${main}`, `have ${fork}`),
    fetchAs("shallow increment", "thin-pack", `shallow ${fork}`, `want ${main}`, `have ${fork}`),
    ...Object.entries(oids).map(([type, oid]) => fetchAs(`a ${type}`, `want ${oid}`)),
    {
      name: "fetch v0",
      method: "POST",
      path: `/hostile/${name}.git/git-upload-pack`,
      headers: { "content-type": "application/x-git-upload-pack-request" },
      body: new Uint8Array(old),
      statuses: ["200"],
    },
  ];
}

/** The paths of a route with its parameters filled in. */
function fillPaths(
  path: string,
  { directory, file, oids }: HostileHistory,
  { name, upload }: Readonly<Record<"name" | "upload", string>>,
): string[] {
  const kind = /\/git\/(\w+)\//.exec(path)?.[1] as keyof typeof oids | undefined;
  const values: Record<string, readonly (string | undefined)[]> = {
    owner: ["hostile"],
    repo: [name],
    id: ["current"],
    upload: [upload],
    part: ["1"],
    webhook: ["none"],
    delivery: ["1"],
    mirror: ["none"],
    name: path.includes("/tags/") ? ["top"] : path.includes("/refs/") ? ["heads/new"] : ["fork"],
    ref: ["main"],
    path: path.includes("/raw/") ? [file, `${directory}/${file}`.slice(0, 3_000)] : [file],
    oid: [kind === undefined ? undefined : (oids[kind] ?? "0".repeat(40))],
    range: ["fork...main", "main..fork"],
    file: ["main.tar", "main.zip", "main.tar.gz"],
  };
  let paths = [path];
  for (const [, parameter] of path.matchAll(/\{(\w+)\}/g)) {
    const choices = values[parameter!];
    if (choices === undefined) throw new Error(`${path}: no value for {${parameter}}`);
    const parts = choices.map((value) => String(value).split("/").map(encodeURIComponent).join("/"));
    paths = paths.flatMap((one) => parts.map((part) => one.replace(`{${parameter}}`, part)));
  }
  return paths;
}

/** The queries for a route: none, and one for each of its parameters. */
function queriesOf(operation: Operation, { directory, file }: HostileHistory, name: string): string[] {
  const known: Record<string, readonly string[]> = {
    owner: ["hostile"],
    repository: [name],
    base: ["main"],
    head: ["fork"],
    pattern: ["line.*content"],
    ref: ["main", "top"],
    path: [directory, file],
    follow: [`true&path=${encodeURIComponent(file)}`],
    lastCommit: ["true"],
    author: ["Ada"],
    firstParent: ["true"],
    since: ["2020-01-01T00:00:00Z"],
    format: ["diff"],
    per: ["day"],
    lines: ["1-10"],
    context: ["3"],
    parent: ["1"],
    after: ["0"],
    part: ["2"],
  };
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  const required = parameters.filter((parameter) => parameter.required === true);
  const pair = (key: string, value: string): string =>
    `${key}=${key === "follow" ? value : encodeURIComponent(value)}`.slice(0, 6_000);
  const first = required.map(({ name: key }) => pair(key, known[key]![0]!)).join("&");
  const others = parameters
    .filter((parameter) => parameter.required !== true)
    .flatMap(({ name: key }) => (known[key] ?? []).map((value) => pair(key, value)));
  const join = (...parts: string[]): string => {
    const query = parts.filter((part) => part !== "").join("&");
    return query === "" ? "" : `?${query}`;
  };
  return [join(first), ...others.map((other) => join(first, other))];
}

/** Request bodies, by method and path. */
const BODIES: Readonly<Record<string, (history: HostileHistory) => unknown>> = {
  "post /repos": () => ({ owner: "hostile", name: "main" }),
  "patch /repos/{owner}/{repo}": () => ({ description: "hostile" }),
  "post /repos/{owner}/{repo}/forks": () => ({ name: `fork-${crypto.randomUUID()}` }),
  "post /repos/{owner}/{repo}/sync": () => ({ branch: "main" }),
  "post /tokens": ({ shape }) => ({ owner: "hostile", name: shape.slice(0, 50), right: "read" }),
  "put /repos/{owner}/{repo}/quota": () => ({ maxBytes: null, maxObjects: null }),
  "put /owners/{owner}/quota": () => ({ maxBytes: null, maxObjects: null }),
  "post /repos/{owner}/{repo}/commits": ({ directory }) => ({
    branch: "main",
    message: "Change",
    author: PERSON,
    operations: [{ op: "put", path: `${directory === "" ? "" : `${directory}/`}new`, content: "new\n" }],
  }),
  "post /repos/{owner}/{repo}/branches": () => ({ name: "new", startPoint: "main" }),
  "patch /repos/{owner}/{repo}/branches/{name}": () => ({ target: "main", force: true }),
  "post /repos/{owner}/{repo}/tags": () => ({ name: "new", target: "top", message: "New", tagger: PERSON }),
  "patch /repos/{owner}/{repo}/tags/{name}": () => ({ target: "main", force: true }),
  "put /repos/{owner}/{repo}/refs/{name}": () => ({ target: "main", force: true }),
  "put /repos/{owner}/{repo}/protected-refs": () => ({ rules: [{ pattern: "refs/heads/none", noForce: true }] }),
  "post /repos/{owner}/{repo}/merge": () => ({ base: "main", head: "fork", message: "Merge", author: PERSON }),
  "post /repos/{owner}/{repo}/cherry-pick": () => ({ branch: "main", commit: "fork", committer: PERSON }),
  "post /repos/{owner}/{repo}/revert": () => ({ branch: "main", commit: "main", committer: PERSON, author: PERSON }),
  "post /repos/{owner}/{repo}/uploads": () => ({ options: ["from a part"] }),
  "post /repos/{owner}/{repo}/uploads/{upload}/steps": ({ refs }) => ({ parts: [1], tips: [...refs.values()] }),
  "post /repos/{owner}/{repo}/uploads/{upload}/complete": ({ refs }) => ({
    refs: [{ name: "refs/heads/uploaded", old: null, new: refs.get("refs/heads/main")! }],
  }),
  "patch /repos/{owner}/{repo}/import": () => ({ interval: 60 }),
  "post /repos/{owner}/{repo}/import": () => ({ url: "https://nowhere.invalid/none.git" }),
  "post /repos/{owner}/{repo}/mirrors": () => ({ url: "https://nowhere.invalid/none.git" }),
  "patch /repos/{owner}/{repo}/mirrors/{mirror}": () => ({ force: true }),
  "post /repos/{owner}/{repo}/commits/{ref}/statuses": () => ({ state: "success" }),
  "post /owners/{owner}/webhooks": () => ({ url: "https://ci.example/hook", events: ["nothing"] }),
  "patch /owners/{owner}/webhooks/{webhook}": () => ({ enabled: false }),
  "post /owners/{owner}/webhooks/{webhook}/secret": () => ({ secret: null }),
  "post /repos/{owner}/{repo}/webhooks": () => ({ url: "https://ci.example/hook", events: ["nothing"] }),
  "patch /repos/{owner}/{repo}/webhooks/{webhook}": () => ({ enabled: false }),
  "post /repos/{owner}/{repo}/webhooks/{webhook}/secret": () => ({ secret: null }),
  "put /repos/{owner}/{repo}/worktrees": () => ({ branches: ["main", "fork"] }),
};

function bodyOf(route: string, operation: Operation, history: HostileHistory): Pick<Request, "headers" | "body"> {
  const [type] = Object.keys(operation.requestBody?.content ?? {});
  if (type === undefined) return {};
  const headers = { "content-type": type };
  if (type !== "application/json") return { headers, body: history.pack };
  const make = BODIES[route];
  if (make === undefined) throw new Error(`${route}: it takes something, and nobody said what`);
  return { headers, body: JSON.stringify(make(history)) };
}
