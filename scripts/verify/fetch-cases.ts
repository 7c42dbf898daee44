/** What clients ask of a server: every kind of depth and filter, and their lives afterwards. */
import type { FetchHistory } from "./fetch-history.ts";

/** Arguments of a git command in the client's folder, which is empty at first; `URL` is the server's repository. */
export type Command = readonly string[];

/** One client's life. */
export interface FetchCase {
  readonly name: string;
  /** What it fetches from: a repository in the later state; or in the earlier one, which moves on to the later before the
   * commands `after`; or one of its own, because it pushes. */
  readonly server: "later" | "moving" | "own";
  readonly commands: readonly Command[];
  readonly after: readonly Command[];
}

/** Filters that are asked for by protocol v0 too: it reads them as v2 does, and whole histories take their time. */
const OLD_FILTERS = ["filter blob:none", "filter tree:1", "filter sparse by name", "filter four", "filter nested"];

/** Every case by protocol v2, and most by v0. */
export function listCases(history: FetchHistory): FetchCase[] {
  const cases = [
    ...listDepths(history),
    ...listDeepenings(history),
    ...listAdvances(history),
    ...listIds(history),
    ...listPushes(history),
    ...listFilters(history),
    ...listCutFilters(history),
    ...listPartialLives(history),
  ];
  const old = cases.filter(({ name }) => !name.startsWith("filter ") || OLD_FILTERS.includes(name));
  return [...cases.map((one) => pinVersion(one, 2)), ...old.map((one) => pinVersion(one, 0))];
}

function pinVersion({ name, server, commands, after }: FetchCase, version: 0 | 2): FetchCase {
  const pin = (command: Command): Command => ["-c", `protocol.version=${version}`, ...command];
  return { name: `v${version} ${name}`, server, commands: commands.map(pin), after: after.map(pin) };
}

const clone = (...options: string[]): Command => ["clone", "-q", "-n", ...options, "URL", "."];
const fetch = (...options: string[]): Command => ["fetch", "-q", ...options];
const still = (name: string, ...commands: Command[]): FetchCase => ({ name, server: "later", commands, after: [] });
const formatDate = (seconds: number): string => new Date(seconds * 1000).toISOString();

function listDepths({ branch, tag, dates }: FetchHistory): FetchCase[] {
  const cut = (name: string, ...options: string[]): FetchCase => still(`cut ${name}`, clone(...options));
  return [
    ...[1, 2, 3, 10, 50, 1000].flatMap((depth) => [
      cut(`depth ${depth}`, `--depth=${depth}`),
      cut(`depth ${depth}, all branches`, `--depth=${depth}`, "--no-single-branch"),
    ]),
    cut("depth 3, weave", "--depth=3", "--branch=weave"),
    cut("depth 7, no tags", "--depth=7", "--no-tags"),
    ...dates.map((date, index) => cut(`since ${index + 1}`, `--shallow-since=${formatDate(date)}`)),
    cut("since 2, all branches", `--shallow-since=${formatDate(dates[1])}`, "--no-single-branch"),
    cut("since the future", "--shallow-since=@4000000000 +0000"),
    cut("exclude tag", `--shallow-exclude=${tag}`),
    cut("exclude branch", "--shallow-exclude=old", "--no-single-branch"),
    cut("exclude weave", "--shallow-exclude=weave"),
    cut("exclude everything", `--shallow-exclude=${branch}`),
    cut("exclude unknown", "--shallow-exclude=no-such-ref"),
    cut("exclude two", "--shallow-exclude=old", `--shallow-exclude=${tag}`),
    cut("exclude and since", "--shallow-exclude=old", `--shallow-since=${formatDate(dates[1])}`),
  ];
}

function listDeepenings({ dates, tag }: FetchHistory): FetchCase[] {
  const deepen = (name: string, ...commands: Command[]): FetchCase => still(`deepen ${name}`, ...commands);
  const shallow = clone("--depth=1");
  return [
    deepen("by 1", shallow, fetch("--deepen=1")),
    deepen("by 10", shallow, fetch("--deepen=10")),
    deepen("by 10, all branches", clone("--depth=1", "--no-single-branch"), fetch("--deepen=10")),
    deepen("twice", shallow, fetch("--deepen=3"), fetch("--deepen=4")),
    deepen("to 5", shallow, fetch("--depth=5")),
    deepen("down to 2", clone("--depth=10"), fetch("--depth=2")),
    deepen("and unshallow", shallow, fetch("--deepen=3"), fetch("--unshallow")),
    deepen("unshallow at once", shallow, fetch("--unshallow")),
    deepen("unshallow weave", clone("--depth=2", "--branch=weave"), fetch("--unshallow")),
    deepen("since after depth", shallow, fetch(`--shallow-since=${formatDate(dates[1])}`)),
    deepen("exclude after depth", shallow, fetch(`--shallow-exclude=${tag}`)),
    deepen("by 2 after since", clone(`--shallow-since=${formatDate(dates[0])}`), fetch("--deepen=2")),
    deepen("cut a whole clone", clone(), fetch("--depth=3")),
    deepen("cut and restore", clone(), fetch("--depth=3"), fetch("--unshallow")),
    deepen("another branch", shallow, fetch("--depth=4", "origin", "weave:refs/remotes/origin/weave")),
    deepen("another branch, uncut", shallow, fetch("origin", "weave:refs/remotes/origin/weave")),
  ];
}

function listAdvances({ branch, dates }: FetchHistory): FetchCase[] {
  const advance = (name: string, commands: Command[], ...after: Command[]): FetchCase => ({
    name: `advance ${name}`,
    server: "moving",
    commands,
    after,
  });
  const all = "--no-single-branch";
  return [
    advance("whole", [clone()], fetch()),
    advance("mirror", [["clone", "-q", "--mirror", "URL", "."]], fetch()),
    advance("single branch", [clone("--single-branch")], fetch()),
    advance("depth 1", [clone("--depth=1")], fetch()),
    advance("depth 1, all branches", [clone("--depth=1", all)], fetch()),
    advance("depth 10, all branches", [clone("--depth=10", all)], fetch()),
    advance("depth 3, weave", [clone("--depth=3", "--branch=weave")], fetch()),
    advance("depth 1, forced", [clone("--depth=1", "--branch=forced")], fetch()),
    advance("depth 5, all tags", [clone("--depth=5", all)], fetch("--tags")),
    advance("since", [clone(`--shallow-since=${formatDate(dates[1])}`, all)], fetch()),
    advance("exclude", [clone("--shallow-exclude=old", all)], fetch()),
    advance("then depth 1", [clone("--depth=1")], fetch("--depth=1")),
    advance("whole, then depth 2", [clone()], fetch("--depth=2")),
    advance("depth 1, deepen", [clone("--depth=1")], fetch("--deepen=5")),
    advance("depth 1, deepen, all", [clone("--depth=1", all)], fetch("--deepen=5")),
    advance("depth 1, unshallow", [clone("--depth=1", all)], fetch("--unshallow")),
    advance("depth 2, fetch, unshallow", [clone("--depth=2", all)], fetch(), fetch("--unshallow")),
    advance("new branch to shallow", [clone("--depth=2")], fetch("origin", "new:refs/remotes/origin/new")),
    advance("one ref", [clone("--single-branch")], fetch("origin", `refs/heads/${branch}`, "refs/heads/new")),
    advance("prune", [clone()], fetch("--prune", "--tags", "--force")),
  ];
}

/** Fetches of what no ref points at. */
function listIds({ commits, sideCommit, nestedTag, tree, blob }: FetchHistory): FetchCase[] {
  const begin: Command[] = [
    ["init", "-q"],
    ["remote", "add", "origin", "URL"],
  ];
  const get = (oid: string, name: string, ...options: string[]): Command =>
    fetch("--no-tags", ...options, "origin", `${oid}:refs/got/${name}`);
  const [near, middle, far] = commits;
  const byId = (name: string, ...commands: Command[]): FetchCase => still(`id ${name}`, ...begin, ...commands);
  return [
    byId("commit", get(middle, "commit")),
    byId("commit, with its tags", fetch("origin", `${middle}:refs/got/commit`)),
    byId("commit, depth 1", get(middle, "commit", "--depth=1")),
    byId("commit, depth 4", get(middle, "commit", "--depth=4")),
    byId("side commit", get(sideCommit, "commit")),
    byId("side commit, depth 2", get(sideCommit, "commit", "--depth=2")),
    byId("older, then newer", get(far, "far"), get(near, "near")),
    byId("newer, then older", get(near, "near"), get(far, "far")),
    byId("depth 1, three times", ...[far, middle, near].map((oid) => get(oid, oid, "--depth=1"))),
    byId("depth 1, then from it on", get(far, "far", "--depth=1"), get(near, "near")),
    byId("tag of a tag", get(nestedTag, "tag")),
    byId("tag of a tag, depth 1", get(nestedTag, "tag", "--depth=1")),
    byId("tree", get(tree, "tree")),
    byId("blob", get(blob, "blob")),
    byId("tree, after a commit without blobs", get(far, "far", "--filter=blob:none"), get(tree, "tree")),
    byId("nothing there", get("1234567890".repeat(4), "nothing")),
  ];
}

/** Clients that are cut or partial and push. */
function listPushes({ path }: FetchHistory): FetchCase[] {
  const push = (name: string, ...options: string[]): FetchCase => ({
    name: `push ${name}`,
    server: "own",
    commands: [
      ["clone", "-q", ...options, "URL", "."],
      ["rm", "-q", path],
      ["commit", "-q", "-m", "One file fewer"],
      ["commit", "-q", "--allow-empty", "-m", "Nothing"],
      ["push", "-q", "origin", "HEAD:refs/heads/pushed"],
      ["ls-remote", "URL"],
      fetch("origin", "pushed:refs/remotes/origin/pushed"),
      fetch("--depth=4"),
    ],
    after: [],
  });
  return [
    push("depth 1", "--depth=1"),
    push("depth 3, all branches", "--depth=3", "--no-single-branch"),
    push("blob:none", "--filter=blob:none"),
    push("depth 1, tree:0", "--depth=1", "--filter=tree:0"),
  ];
}

function listFilters({ specs }: FetchHistory): FetchCase[] {
  const names = [...specs.keys()];
  const spec = (name: string): string => `sparse:oid=${specs.get(name)!}`;
  const filters: [name: string, ...filters: string[]][] = [
    ...["blob:none", ...["0", "1", "1k", "10k", "1m", "1g"].map((size) => `blob:limit=${size}`)].map(
      (one): [string, string] => [one, one],
    ),
    ...[0, 1, 2, 3, 4, 100].map((depth): [string, string] => [`tree:${depth}`, `tree:${depth}`]),
    ...["commit", "tree", "blob", "tag"].map((type): [string, string] => [`type ${type}`, `object:type=${type}`]),
    ...names.map((name): [string, string] => [`sparse ${name}`, spec(name)]),
    ["sparse by name", "sparse:oid=specs:negated"],
    ["sparse of nothing", `sparse:oid=${"12".repeat(20)}`],
    ["blob:none and tree:2", "combine:blob:none+tree:2"],
    ["limit and tree:3", "blob:limit=1k", "tree:3"],
    ["type and limit", "object:type=blob", "blob:limit=2k"],
    ["type and tree:2", "object:type=tree", "tree:2"],
    ["sparse and limit", spec("negated"), "blob:limit=10k"],
    ["sparse and tree:2", spec("globs"), "tree:2"],
    ["two sparse", spec("globs"), spec("negated")],
    ["four", "blob:limit=20k", "tree:4", spec("negated"), "object:type=blob"],
    ["nested", `combine:combine:blob:limit=5k%2btree:3+${spec("globs")}`],
  ];
  return filters.map(([name, ...values]) =>
    still(`filter ${name}`, clone(...values.map((value) => `--filter=${value}`))),
  );
}

function listCutFilters({ specs, dates }: FetchHistory): FetchCase[] {
  const all = "--no-single-branch";
  const both = (name: string, ...commands: Command[]): FetchCase => still(`cut filter ${name}`, ...commands);
  const sparse = `--filter=sparse:oid=${specs.get("negated")!}`;
  return [
    both("blob:none, depth 1", clone("--filter=blob:none", "--depth=1")),
    both("blob:none, depth 10, all", clone("--filter=blob:none", "--depth=10", all)),
    both("tree:0, depth 3", clone("--filter=tree:0", "--depth=3")),
    both("tree:2, since", clone("--filter=tree:2", `--shallow-since=${formatDate(dates[0])}`)),
    both("limit, depth 3, all", clone("--filter=blob:limit=1k", "--depth=3", all)),
    both("type tree, depth 2", clone("--filter=object:type=tree", "--depth=2")),
    both("sparse, depth 1", clone(sparse, "--depth=1")),
    both("sparse, exclude", clone(sparse, "--shallow-exclude=old")),
    both("blob:none, deepen", clone("--filter=blob:none", "--depth=1"), fetch("--deepen=5")),
    both("blob:none, unshallow", clone("--filter=blob:none", "--depth=1"), fetch("--unshallow")),
    both("tree:0, deepen", clone("--filter=tree:0", "--depth=1"), fetch("--deepen=5")),
  ];
}

/** What partial clones do later on. */
function listPartialLives({ branch, commits, path, blob, tree, specs }: FetchHistory): FetchCase[] {
  const all = "--no-single-branch";
  const none = clone("--filter=blob:none");
  const [near, middle, far] = commits;
  const moving = (name: string, commands: Command[], ...after: Command[]): FetchCase => ({
    name: `partial ${name}`,
    server: "moving",
    commands,
    after,
  });
  const lazy = (name: string, ...commands: Command[]): FetchCase => still(`lazy ${name}`, ...commands);
  const sparse = clone(`--filter=sparse:oid=${specs.get("folders")!}`);
  const checkout = (commit: string): Command => ["checkout", "-q", commit];
  return [
    moving("blob:none, advance", [none], fetch()),
    moving("limit, advance", [clone("--filter=blob:limit=1k")], fetch()),
    moving("tree:0, advance", [clone("--filter=tree:0")], fetch()),
    moving("tree:2, advance", [clone("--filter=tree:2")], fetch()),
    moving("sparse, advance", [sparse], fetch()),
    moving("depth 1, blob:none, advance", [clone("--filter=blob:none", "--depth=1", all)], fetch()),
    moving("depth 1, tree:0, unshallow", [clone("--filter=tree:0", "--depth=1", all)], fetch("--unshallow")),
    moving("checked out, advance", [none, checkout(branch)], fetch(), checkout("origin/weave")),
    moving("whole, advance with a filter", [clone()], fetch("--filter=blob:none")),
    lazy("checkouts, blob:none", none, checkout(branch), checkout(middle), checkout(far)),
    lazy("checkouts, limit", clone("--filter=blob:limit=1k"), checkout(near), checkout(far)),
    lazy("checkouts, tree:0", clone("--filter=tree:0"), checkout(branch), checkout(middle)),
    lazy("checkouts, tree:1, depth 5", clone("--filter=tree:1", "--depth=5"), checkout(branch), checkout("HEAD~3")),
    lazy("checkout, sparse", sparse, checkout(branch)),
    lazy("cat-file of a path", none, ["cat-file", "-p", `${branch}:${path}`]),
    lazy("cat-file of ids", clone("--filter=tree:0"), ["cat-file", "-p", tree], ["cat-file", "-p", blob]),
    lazy("cat-file of a size", none, ["cat-file", "-s", blob]),
    lazy("diff", none, ["diff", "--stat", far, near]),
    lazy("archive", clone("--filter=tree:0"), ["archive", "--format=tar", middle]),
    lazy("refetch", none, fetch("--refetch", "--filter=blob:limit=1k")),
    lazy("refetch all", none, fetch("--refetch", "--no-filter")),
  ];
}
