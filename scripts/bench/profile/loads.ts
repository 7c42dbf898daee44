/** What a server is kept busy with. */
import { askApi } from "../../../test/harness/api.ts";
import { git, makeRepository, tryGit } from "../../../test/harness/git.ts";
import { sendPush } from "../../../test/harness/raw-push.ts";
import { fetchCommand, type RawCommand, sendRaw } from "../work/raw-fetch.ts";
import { listRoutes, timeRequest } from "../work/routes.ts";
import { makeSmallPushes, type SmallPush } from "../work/small-pushes.ts";
import { makeSubject, openSubject, type Subject } from "../work/subjects.ts";

/** Sizes of a load. */
export interface LoadSettings {
  /** Clients at once. */
  readonly clients: number;
  /** Files of the repositories that are saved to. */
  readonly files: number;
  /** A bundle with the history that is pushed or read; without it, one is made up. */
  readonly bundle: string | undefined;
}

/** Readies so many rounds on the server; they are not measured.
 * @returns what does them, and tells how many operations that were */
export type Prepare = (rounds: number) => Promise<() => Promise<number>>;

/** A load by its name. */
export interface Load {
  /** One line for the help. */
  readonly summary: string;
  /** What is counted: one word. */
  readonly operation: string;
  /** Rounds unless told otherwise. */
  readonly rounds: number;
  open(url: string, settings: LoadSettings): Promise<Prepare>;
}

/** All loads. */
export const LOADS: Readonly<Record<string, Load>> = {
  save: {
    summary: "every client saves one file after the other to a repository of its own; a round is one save of each",
    operation: "save",
    rounds: 100,
    open: (url, settings) => openSaves(url, settings, settings.clients),
  },
  "save-one": {
    summary: "the same, all clients on one branch of one repository",
    operation: "save",
    rounds: 20,
    open: (url, settings) => openSaves(url, settings, 1),
  },
  push: {
    summary: "git pushes a history to a new repository",
    operation: "push",
    rounds: 3,
    open: openPushes,
  },
  "small-pushes": {
    summary: "pushes of one commit each, one after the other, on top of a history",
    operation: "push",
    rounds: 500,
    open: openSmallPushes,
  },
  clone: {
    summary: "a whole clone of a repository that nobody has cloned yet",
    operation: "clone",
    rounds: 10,
    open: (url, settings) => openFetches(url, settings, { clients: 1, isWarm: false, options: [] }),
  },
  storm: {
    summary: "all clients at once fetch the tip at depth 1, of a repository that nobody has fetched from yet",
    operation: "fetch",
    rounds: 5,
    open: (url, settings) =>
      openFetches(url, settings, { clients: settings.clients, isWarm: false, options: ["deepen 1"] }),
  },
  "storm-warm": {
    summary: "the same, always from one repository",
    operation: "fetch",
    rounds: 20,
    open: (url, settings) =>
      openFetches(url, settings, { clients: settings.clients, isWarm: true, options: ["deepen 1"] }),
  },
  clones: {
    summary: "all clients at once clone the whole of a repository that nobody has fetched from yet",
    operation: "clone",
    rounds: 3,
    open: (url, settings) => openFetches(url, settings, { clients: settings.clients, isWarm: false, options: [] }),
  },
  "clones-warm": {
    summary: "the same, always from one repository",
    operation: "clone",
    rounds: 10,
    open: (url, settings) => openFetches(url, settings, { clients: settings.clients, isWarm: true, options: [] }),
  },
  read: {
    summary: "all clients at once ask the reading routes of the API in turns; a round is each route once by each",
    operation: "request",
    rounds: 5,
    open: openReads,
  },
};

const AUTHOR = { name: "Ada Example", email: "ada@example.com" };
const FOLDER_FILES = 50;

function pathOf(file: number): string {
  return `folder-${Math.floor(file / FOLDER_FILES)}/file-${file}.txt`;
}

async function openSaves(url: string, { clients, files }: LoadSettings, repositories: number): Promise<Prepare> {
  const dir = await makeRepository("saved.git", "--bare");
  const lines = ["commit refs/heads/main\ncommitter Ada Example <ada@example.com> 1700000000 +0000\ndata 0\n"];
  for (let file = 0; file < files; file++) {
    const text = `This is file ${file}\n`;
    lines.push(`M 100644 inline ${pathOf(file)}\ndata ${text.length}\n${text}\n`);
  }
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: lines.join("") });
  if (code !== 0) throw new Error(`git fast-import ended with ${code}:\n${stderr}`);
  for (let i = 0; i < repositories; i++) await git(dir, "push", "-q", `${url}/profile/saved-${i}.git`, "main");
  let done = 0;
  return async (rounds) => async () => {
    const from = done;
    done += rounds;
    const write = async (client: number): Promise<void> => {
      for (let number = from; number < done; number++) {
        // Files all over the tree, others for each client.
        const path = pathOf((client * 7_919 + number * 104_729) % files);
        const content = `Client ${client}, save ${number}\n${"a line of the note\n".repeat(1 + (number % 40))}`;
        const json = {
          branch: "main",
          message: `Save ${number}`,
          author: AUTHOR,
          operations: [{ op: "put", path, content }],
        };
        const route = `/repos/profile/saved-${client % repositories}/commits`;
        const { status, body } = await askApi({ url }, route, { method: "POST", json });
        if (status !== 201) throw new Error(`a save was answered with ${status}: ${JSON.stringify(body)}`);
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, client) => write(client)));
    return clients * rounds;
  };
}

function openHistory(bundle: string | undefined): Promise<Subject> {
  return bundle === undefined ? makeSubject() : openSubject(bundle);
}

/** @returns the commit that the latest branch points at */
function findTip({ dir }: Pick<Subject, "dir">): Promise<string> {
  const latest = ["--sort=-committerdate", "--count=1", "--format=%(objectname)", "refs/heads"];
  return git(dir, "for-each-ref", ...latest);
}

async function openPushes(url: string, { bundle }: LoadSettings): Promise<Prepare> {
  const { dir } = await openHistory(bundle);
  let pushed = 0;
  return async (rounds) => async () => {
    for (let i = 0; i < rounds; i++) await git(dir, "push", "-q", "--mirror", `${url}/profile/pushed-${pushed++}.git`);
    return rounds;
  };
}

async function openSmallPushes(url: string, { bundle }: LoadSettings): Promise<Prepare> {
  const subject = await openHistory(bundle);
  const tip = await findTip(subject);
  const remote = `${url}/profile/small-pushes.git`;
  await git(subject.dir, "push", "-q", "--mirror", remote);
  const name = "refs/heads/small-pushes";
  await git(subject.dir, "push", "-q", remote, `${tip}:${name}`);
  // No more than anybody has time for: they are made one at a time.
  const making = makeSmallPushes(subject.dir, tip, Number.MAX_SAFE_INTEGER);
  return async (rounds) => {
    const pushes: SmallPush[] = [];
    while (pushes.length < rounds) pushes.push((await making.next()).value!);
    return async () => {
      for (const { old, new: oid, pack } of pushes) {
        const { refs, status, text } = await sendPush(remote, { commands: [{ name, old, new: oid }], pack });
        if (refs.get(name) !== null) throw new Error(`a push was refused: ${status} ${text.slice(0, 300)}`);
      }
      return pushes.length;
    };
  };
}

async function openFetches(
  url: string,
  { bundle }: LoadSettings,
  storm: { readonly clients: number; readonly isWarm: boolean; readonly options: readonly string[] },
): Promise<Prepare> {
  const subject = await openHistory(bundle);
  const tips = (await git(subject.dir, "for-each-ref", "--format=%(objectname)")).split("\n");
  const wants = storm.options.length === 0 ? [...new Set(tips)] : [await findTip(subject)];
  const command = fetchCommand(wants, ...storm.options);
  let pushed = 0;
  const push = async (): Promise<string> => {
    const remote = `${url}/profile/fetched-${pushed++}.git`;
    process.stderr.write(`pushing repository ${pushed}\n`);
    await git(subject.dir, "push", "-q", "--mirror", remote);
    return remote;
  };
  const warm = storm.isWarm ? await push() : null;
  return async (rounds) => {
    const remotes: string[] = [];
    while (remotes.length < rounds) remotes.push(warm ?? (await push()));
    return async () => {
      for (const remote of remotes) await fetchAtOnce(remote, command, storm.clients);
      return rounds * storm.clients;
    };
  };
}

async function fetchAtOnce(remote: string, command: RawCommand, clients: number): Promise<void> {
  await Promise.all(Array.from({ length: clients }, () => sendRaw(remote, command)));
}

async function openReads(url: string, { bundle, clients }: LoadSettings): Promise<Prepare> {
  const { dir } = await openHistory(bundle);
  const tip = await findTip({ dir });
  // The routes ask for `main`, whatever its name is in a bundle.
  await git(dir, "push", "-q", `${url}/profile/read.git`, `${tip}:refs/heads/main`);
  const files = (await git(dir, "ls-tree", "-r", "--name-only", tip)).split("\n");
  const file = files.find((one) => /^[\w.-]+(\/[\w.-]+)+$/.test(one));
  if (file === undefined) throw new Error("the history has no file in a folder, which the routes ask for");
  const routes = listRoutes("profile/read", file);
  return async (rounds) => async () => {
    const read = async (client: number): Promise<void> => {
      for (let i = 0; i < rounds * routes.length; i++) {
        // Not all the same at the same time.
        await timeRequest(`${url}/api${routes[(client + i) % routes.length]!.path}`);
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, client) => read(client)));
    return clients * rounds * routes.length;
  };
}
