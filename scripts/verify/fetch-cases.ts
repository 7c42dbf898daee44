/** The cases of fetches: every kind of depth and filter, and what the clients do afterwards. */
import type { FetchHistory } from "./fetch-history.ts";

/** Arguments of a git command in the client's folder, which is empty at first. `URL` is the
 * server's repository. */
export type Command = readonly string[];

/** The commands of one client. */
export interface FetchCase {
  readonly name: string;
  /** Whether it needs its own repository, because it pushes. */
  readonly pushes: boolean;
  readonly commands: readonly Command[];
  /** The commands after the server has changed from the earlier state to the later; none: the
   * server has the later one from the start. */
  readonly after: readonly Command[];
}

/** Filters that are tested by protocol v0, too. It reads them as v2 does, and whole histories take
 * long. */
const OLD_FILTERS = ["filter blob:none", "filter tree:1", "filter sparse by name", "filter four", "filter nested"];

/** All cases by protocol v2, and most by v0. */
export function listCases(history: FetchHistory): FetchCase[] {
  const lines = [
    ...listDepths(history),
    ...listDeepenings(history),
    ...listAdvances(history),
    ...listIds(history),
    ...listPushes(history),
    ...listFilters(history),
    ...listPartialLives(history),
  ];
  const old = lines.filter(([name]) => !name.startsWith("filter ") || OLD_FILTERS.includes(name));
  return [...lines.map((line) => readCase(line, 2)), ...old.map((line) => readCase(line, 0))];
}

/** A name, and commands separated by "; ". `clone` and `fetch` are git's, quiet, and without a
 * checkout. Commands after " > " run when the server has changed. */
type Line = readonly [name: string, commands: string];

function readCase([name, line]: Line, version: 0 | 2): FetchCase {
  const [commands, after] = [...line.split(" > "), ""].map((part) =>
    part
      .split("; ")
      .filter(Boolean)
      .map((command) => ["-c", `protocol.version=${version}`, ...readCommand(command)]),
  );
  return { name: `v${version} ${name}`, pushes: line.includes("; push "), commands: commands!, after: after! };
}

function readCommand(command: string): Command {
  const [verb, ...words] = command.split(" ").filter(Boolean) as [string, ...string[]];
  if (verb === "clone") return ["clone", "-q", "-n", ...words, "URL", "."];
  if (verb === "worktree") return ["clone", "-q", ...words, "URL", "."];
  return [verb, ...(["fetch", "init", "push", "checkout"].includes(verb) ? ["-q"] : []), ...words];
}

/** Reads lines of cases; prefixes their names. */
function read(prefix: string, text: string, begin = ""): Line[] {
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const [name, commands] = line.trim().split(/ *\| */);
      return [`${prefix} ${name}`, begin + commands];
    });
}

const ALL = "--no-single-branch";

function listDepths({ branch, tag, dates: [, second], dates }: FetchHistory): Line[] {
  const depths = [1, 2, 3, 10, 50, 1000].map(
    (depth) => `depth ${depth}|--depth=${depth}\ndepth ${depth}, all branches|--depth=${depth} ${ALL}`,
  );
  const since = dates.map((date, i) => `since ${i + 1}|--shallow-since=@${date}`);
  return read(
    "cut",
    `${[...depths, ...since].join("\n")}
    depth 3, weave            | --depth=3 --branch=weave
    depth 7, no tags          | --depth=7 --no-tags
    since 2, all branches     | --shallow-since=@${second} ${ALL}
    since the future          | --shallow-since=@4000000000
    exclude tag               | --shallow-exclude=${tag}
    exclude branch            | --shallow-exclude=old ${ALL}
    exclude weave             | --shallow-exclude=weave
    exclude everything        | --shallow-exclude=${branch}
    exclude unknown           | --shallow-exclude=no-such-ref
    exclude two               | --shallow-exclude=old --shallow-exclude=${tag}
    exclude and since         | --shallow-exclude=old --shallow-since=@${second}`,
    "clone ",
  );
}

function listDeepenings({ dates: [first, second], tag }: FetchHistory): Line[] {
  return read(
    "deepen",
    `
    by 1                      | clone --depth=1; fetch --deepen=1
    by 10                     | clone --depth=1; fetch --deepen=10
    by 10, all branches       | clone --depth=1 ${ALL}; fetch --deepen=10
    twice                     | clone --depth=1; fetch --deepen=3; fetch --deepen=4
    to 5                      | clone --depth=1; fetch --depth=5
    down to 2                 | clone --depth=10; fetch --depth=2
    and unshallow             | clone --depth=1; fetch --deepen=3; fetch --unshallow
    unshallow at once         | clone --depth=1; fetch --unshallow
    unshallow weave           | clone --depth=2 --branch=weave; fetch --unshallow
    since after depth         | clone --depth=1; fetch --shallow-since=@${second}
    exclude after depth       | clone --depth=1; fetch --shallow-exclude=${tag}
    by 2 after since          | clone --shallow-since=@${first}; fetch --deepen=2
    cut a whole clone         | clone; fetch --depth=3
    cut and restore           | clone; fetch --depth=3; fetch --unshallow
    another branch            | clone --depth=1; fetch --depth=4 origin weave:refs/remotes/origin/weave
    another branch, uncut     | clone --depth=1; fetch origin weave:refs/remotes/origin/weave`,
  );
}

function listAdvances({ branch, dates: [, second] }: FetchHistory): Line[] {
  return read(
    "advance",
    `
    whole                     | clone > fetch
    mirror                    | clone --mirror > fetch
    single branch             | clone --single-branch > fetch
    depth 1                   | clone --depth=1 > fetch
    depth 1, all branches     | clone --depth=1 ${ALL} > fetch
    depth 10, all branches    | clone --depth=10 ${ALL} > fetch
    depth 3, weave            | clone --depth=3 --branch=weave > fetch
    depth 1, forced           | clone --depth=1 --branch=forced > fetch
    depth 5, all tags         | clone --depth=5 ${ALL} > fetch --tags
    since                     | clone --shallow-since=@${second} ${ALL} > fetch
    exclude                   | clone --shallow-exclude=old ${ALL} > fetch
    then depth 1              | clone --depth=1 > fetch --depth=1
    whole, then depth 2       | clone > fetch --depth=2
    depth 1, deepen           | clone --depth=1 > fetch --deepen=5
    depth 1, deepen, all      | clone --depth=1 ${ALL} > fetch --deepen=5
    depth 1, unshallow        | clone --depth=1 ${ALL} > fetch --unshallow
    depth 2, fetch, unshallow | clone --depth=2 ${ALL} > fetch; fetch --unshallow
    new branch to shallow     | clone --depth=2 > fetch origin new:refs/remotes/origin/new
    one ref                   | clone --single-branch > fetch origin refs/heads/${branch} refs/heads/new
    prune                     | clone > fetch --prune --tags --force`,
  );
}

/** Fetches of objects that no ref points to. */
function listIds({ commits: [near, middle, far], sideCommit, nestedTag, tree, blob }: FetchHistory): Line[] {
  const get = (oid: string, name: string, options = ""): string =>
    `fetch --no-tags ${options} origin ${oid}:refs/got/${name}`;
  return read(
    "id",
    `
    commit                    | ${get(middle, "commit")}
    commit, with its tags     | fetch origin ${middle}:refs/got/commit
    commit, depth 1           | ${get(middle, "commit", "--depth=1")}
    commit, depth 4           | ${get(middle, "commit", "--depth=4")}
    side commit               | ${get(sideCommit, "commit")}
    side commit, depth 2      | ${get(sideCommit, "commit", "--depth=2")}
    older, then newer         | ${get(far, "far")}; ${get(near, "near")}
    newer, then older         | ${get(near, "near")}; ${get(far, "far")}
    depth 1, three times      | ${[far, middle, near].map((oid) => get(oid, oid, "--depth=1")).join("; ")}
    depth 1, then from it on  | ${get(far, "far", "--depth=1")}; ${get(near, "near")}
    tag of a tag              | ${get(nestedTag, "tag")}
    tag of a tag, depth 1     | ${get(nestedTag, "tag", "--depth=1")}
    tree                      | ${get(tree, "tree")}
    blob                      | ${get(blob, "blob")}
    tree, without blobs       | ${get(far, "far", "--filter=blob:none")}; ${get(tree, "tree")}
    nothing there             | ${get("1234567890".repeat(4), "nothing")}`,
    "init; remote add origin URL; ",
  );
}

/** Shallow or partial clients that push. */
function listPushes({ path }: FetchHistory): Line[] {
  const kinds = ["--depth=1", `--depth=3 ${ALL}`, "--filter=blob:none", "--depth=1 --filter=tree:0"];
  const life = [
    `rm -q -- ${path}`,
    "commit -q -m One-file-fewer",
    "commit -q --allow-empty -m Nothing",
    "push origin HEAD:refs/heads/pushed",
    "ls-remote URL",
    "fetch origin pushed:refs/remotes/origin/pushed",
    "fetch --depth=4",
  ];
  return kinds.map((options) => [`push ${options}`, [`worktree ${options}`, ...life].join("; ")]);
}

function listFilters({ specs, dates: [date] }: FetchHistory): Line[] {
  const spec = (name: string): string => `sparse:oid=${specs.get(name)!}`;
  const limits = ["0", "1", "1k", "10k", "1m", "1g"].map((size) => `blob:limit=${size}`);
  const trees = [0, 1, 2, 3, 4, 100].map((depth) => `tree:${depth}`);
  const types = ["commit", "tree", "blob", "tag"].map((type) => `object:type=${type}`);
  const sparse = [...specs.keys()].map((name) => `sparse ${name}|${spec(name)}`);
  const filters = read(
    "filter",
    `${[...["blob:none", ...limits, ...trees, ...types].map((one) => `${one}|${one}`), ...sparse].join("\n")}
    sparse by name            | sparse:oid=specs:negated
    sparse of nothing         | sparse:oid=${"12".repeat(20)}
    blob:none and tree:2      | combine:blob:none+tree:2
    limit and tree:3          | blob:limit=1k tree:3
    type and limit            | object:type=blob blob:limit=2k
    type and tree:2           | object:type=tree tree:2
    sparse and limit          | ${spec("negated")} blob:limit=10k
    sparse and tree:2         | ${spec("globs")} tree:2
    two sparse                | ${spec("globs")} ${spec("negated")}
    four                      | blob:limit=20k tree:4 ${spec("negated")} object:type=blob
    nested                    | combine:combine:blob:limit=5k%2btree:3+${spec("globs")}`,
  );
  const cut = read(
    "cut filter",
    `
    blob:none, depth 1        | clone --filter=blob:none --depth=1
    blob:none, depth 10, all  | clone --filter=blob:none --depth=10 ${ALL}
    tree:0, depth 3           | clone --filter=tree:0 --depth=3
    tree:2, since             | clone --filter=tree:2 --shallow-since=@${date}
    limit, depth 3, all       | clone --filter=blob:limit=1k --depth=3 ${ALL}
    type tree, depth 2        | clone --filter=object:type=tree --depth=2
    sparse, depth 1           | clone --filter=${spec("negated")} --depth=1
    sparse, exclude           | clone --filter=${spec("negated")} --shallow-exclude=old
    blob:none, deepen         | clone --filter=blob:none --depth=1; fetch --deepen=5
    blob:none, unshallow      | clone --filter=blob:none --depth=1; fetch --unshallow
    tree:0, deepen            | clone --filter=tree:0 --depth=1; fetch --deepen=5`,
  );
  const clone = (all: string): string =>
    `clone ${all
      .split(" ")
      .map((one) => `--filter=${one}`)
      .join(" ")}`;
  return [...filters.map(([name, all]): Line => [name, clone(all)]), ...cut];
}

/** Later operations of partial clones. */
function listPartialLives({ branch, commits: [near, middle, far], path, blob, tree, specs }: FetchHistory): Line[] {
  const sparse = `clone --filter=sparse:oid=${specs.get("folders")!}`;
  return read(
    "partial",
    `
    blob:none, advance        | clone --filter=blob:none > fetch
    limit, advance            | clone --filter=blob:limit=1k > fetch
    tree:0, advance           | clone --filter=tree:0 > fetch
    tree:2, advance           | clone --filter=tree:2 > fetch
    sparse, advance           | ${sparse} > fetch
    blob:none, depth 1        | clone --filter=blob:none --depth=1 ${ALL} > fetch
    tree:0, unshallow         | clone --filter=tree:0 --depth=1 ${ALL} > fetch --unshallow
    checked out, advance      | clone --filter=blob:none; checkout ${branch} > fetch; checkout origin/weave
    whole, then a filter      | clone > fetch --filter=blob:none
    checkouts, blob:none      | clone --filter=blob:none; checkout ${branch}; checkout ${middle}; checkout ${far}
    checkouts, limit          | clone --filter=blob:limit=1k; checkout ${near}; checkout ${far}
    checkouts, tree:0         | clone --filter=tree:0; checkout ${branch}; checkout ${middle}
    checkouts, tree:1, cut    | clone --filter=tree:1 --depth=5; checkout ${branch}; checkout HEAD~3
    checkout, sparse          | ${sparse}; checkout ${branch}
    cat-file of a path        | clone --filter=blob:none; cat-file -p ${branch}:${path}
    cat-file of ids           | clone --filter=tree:0; cat-file -p ${tree}; cat-file -p ${blob}
    cat-file of a size        | clone --filter=blob:none; cat-file -s ${blob}
    diff                      | clone --filter=blob:none; diff --stat ${far} ${near}
    archive                   | clone --filter=tree:0; archive --format=tar ${middle}
    refetch                   | clone --filter=blob:none; fetch --refetch --filter=blob:limit=1k
    refetch all               | clone --filter=blob:none; fetch --refetch --no-filter`,
  );
}
