/** The loads that a server is profiled under. */
import { askApi } from "../../../test/harness/api.ts";
import { git } from "../../../test/harness/git.ts";
import { fetchCommand, sendRaw } from "../../../test/harness/raw-fetch.ts";
import { tryHelper } from "../../../test/harness/remote-helper.ts";
import { listRoutes, timeRequest } from "../cases/rest.ts";
import { allOf } from "../figures/bench.ts";
import { makeStoreSource, pathOf } from "../store/writers.ts";
import { findTip, makeSmallPushes, openSubjects, sendSmallPush, type SmallPush } from "../work/subjects.ts";

/** The sizes of a load. */
interface LoadSettings {
  /** Clients at once. */
  readonly clients: number;
  /** Files of the repositories that saves change. */
  readonly files: number;
  /** The history that is pushed or read; without it, one is generated. */
  readonly bundle: string | undefined;
}

/** Prepares a number of rounds on the server, unmeasured.
 * @returns does them, and gives the number of operations */
export type Prepare = (rounds: number) => Promise<() => Promise<number>>;

/** A load. */
export interface Load {
  /** Its part of a line in the help. */
  readonly summary: string;
  /** The unit that is counted, as one word. */
  readonly operation: string;
  /** The default number of rounds. */
  readonly rounds: number;
  open(url: string, settings: LoadSettings): Promise<Prepare>;
}

/** All loads by name. */
export const LOADS = {
  save: load("each client saves files to a repository of its own", "save", 100, (url, settings) =>
    openSaves(url, settings, settings.clients),
  ),
  "save-one": load("the same, all on one branch of one repository", "save", 20, (url, settings) =>
    openSaves(url, settings, 1),
  ),
  push: load("git pushes a history to a new repository", "push", 3, (url, settings) =>
    openPushes(settings, (dir, name) => git(dir, "push", "-q", "--mirror", `${url}/${name}`)),
  ),
  "push-helper": load("the same by the remote helper", "push", 3, (url, settings) =>
    openPushes(settings, (dir, name) => pushByHelper(dir, `holdfast::${url}/${name}`)),
  ),
  "small-pushes": load("pushes of one commit each on top of a history", "push", 500, openSmallPushes),
  clone: load("a whole clone, the first of its repository", "clone", 10, (url, settings) =>
    openFetches(url, { ...settings, clients: 1 }, false, []),
  ),
  storm: load("all fetch the tip at depth 1 at once, for the first time", "fetch", 5, (url, settings) =>
    openFetches(url, settings, false, ["deepen 1"]),
  ),
  "storm-warm": load("the same, always from one repository", "fetch", 20, (url, settings) =>
    openFetches(url, settings, true, ["deepen 1"]),
  ),
  clones: load("all clone everything at once, for the first time", "clone", 3, (url, settings) =>
    openFetches(url, settings, false, []),
  ),
  "clones-warm": load("the same, always from one repository", "clone", 10, (url, settings) =>
    openFetches(url, settings, true, []),
  ),
  read: load("all call the API's reading routes one after the other", "request", 5, openReads),
} as const;

function load(summary: string, operation: string, rounds: number, open: Load["open"]): Load {
  return { summary, operation, rounds, open };
}

/** Runs the same for each client at once. */
function atOnce(clients: number, run: (client: number) => Promise<unknown>): Promise<unknown> {
  return allOf(Array.from({ length: clients }, (_, client) => run(client)));
}

async function openSaves(url: string, { clients, files }: LoadSettings, repositories: number): Promise<Prepare> {
  const dir = await makeStoreSource({ files, branches: 1 });
  for (let i = 0; i < repositories; i++) await git(dir, "push", "-q", `${url}/profile/saved-${i}.git`, "main");
  let done = 0;
  return async (rounds) => async () => {
    const from = done;
    done += rounds;
    await atOnce(clients, async (client) => {
      for (let number = from; number < done; number++) {
        // Files all over the tree, different ones for each client.
        const path = pathOf((client * 7_919 + number * 104_729) % files, files);
        const content = `Client ${client}, save ${number}\n${"a line of the note\n".repeat(1 + (number % 40))}`;
        const author = { name: "Ada Example", email: "ada@example.com" };
        const operations = [{ op: "put", path, content }];
        const json = { branch: "main", message: `Save ${number}`, author, operations };
        const route = `/repos/profile/saved-${client % repositories}/commits`;
        const { status, body } = await askApi({ url }, route, { method: "POST", json });
        if (status !== 201) throw new Error(`a save was answered with ${status}: ${JSON.stringify(body)}`);
      }
    });
    return clients * rounds;
  };
}

async function openHistory({ bundle }: LoadSettings): Promise<string> {
  const [subject] = await openSubjects(bundle === undefined ? [] : [bundle]);
  return subject!.dir;
}

async function openPushes(
  settings: LoadSettings,
  push: (dir: string, name: string) => Promise<unknown>,
): Promise<Prepare> {
  const dir = await openHistory(settings);
  let pushed = 0;
  return async (rounds) => async () => {
    for (let i = 0; i < rounds; i++) await push(dir, `profile/pushed-${pushed++}.git`);
    return rounds;
  };
}

/** Pushes as what is too large for one request, however small the history is. */
async function pushByHelper(dir: string, remote: string): Promise<void> {
  const { code, stderr } = await tryHelper(dir, ["push", "-q", "--mirror", remote], { plainObjects: 1 });
  if (code !== 0) throw new Error(`git push ended with ${code}:\n${stderr}`);
}

async function openSmallPushes(url: string, settings: LoadSettings): Promise<Prepare> {
  const dir = await openHistory(settings);
  const remote = `${url}/profile/small-pushes.git`;
  await git(dir, "push", "-q", "--mirror", remote);
  // Commits are generated one at a time, so this limit is never reached.
  const making = makeSmallPushes(dir, await findTip(dir), Number.MAX_SAFE_INTEGER);
  let isCreated = false;
  return async (rounds) => {
    const pushes: SmallPush[] = [];
    while (pushes.length < rounds) pushes.push((await making.next()).value!);
    return async () => {
      for (const push of pushes) {
        await sendSmallPush(remote, push, !isCreated);
        isCreated = true;
      }
      return pushes.length;
    };
  };
}

async function openFetches(
  url: string,
  settings: LoadSettings,
  isWarm: boolean,
  options: readonly string[],
): Promise<Prepare> {
  const dir = await openHistory(settings);
  const tips = (await git(dir, "for-each-ref", "--format=%(objectname)")).split("\n");
  const wants = options.length === 0 ? [...new Set(tips)] : [await findTip(dir)];
  const command = fetchCommand(wants, ...options);
  let pushed = 0;
  const push = async (): Promise<string> => {
    const remote = `${url}/profile/fetched-${pushed++}.git`;
    process.stderr.write(`pushing repository ${pushed}\n`);
    await git(dir, "push", "-q", "--mirror", remote);
    return remote;
  };
  const warm = isWarm ? await push() : null;
  return async (rounds) => {
    const remotes: string[] = [];
    while (remotes.length < rounds) remotes.push(warm ?? (await push()));
    return async () => {
      for (const remote of remotes) await atOnce(settings.clients, () => sendRaw(remote, command));
      return rounds * settings.clients;
    };
  };
}

async function openReads(url: string, settings: LoadSettings): Promise<Prepare> {
  const dir = await openHistory(settings);
  const tip = await findTip(dir);
  // The routes read `main`, whatever its name is in a bundle.
  await git(dir, "push", "-q", `${url}/profile/read.git`, `${tip}:refs/heads/main`);
  const files = (await git(dir, "ls-tree", "-r", "--name-only", tip)).split("\n");
  const file = files.find((one) => /^[\w.-]+(\/[\w.-]+)+$/.test(one));
  if (file === undefined) throw new Error("the history has no file in a folder, which the routes need");
  const routes = listRoutes("/repos/profile/read", file);
  return async (rounds) => async () => {
    await atOnce(settings.clients, async (client) => {
      // Clients do not all read the same at the same time.
      for (let i = 0; i < rounds * routes.length; i++)
        await timeRequest(`${url}/api${routes[(client + i) % routes.length]!.path}`);
    });
    return settings.clients * rounds * routes.length;
  };
}
