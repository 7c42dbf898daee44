/** Very many small pushes: what each takes, and what they leave of a clone. */
import { join } from "node:path";
import { git } from "../../test/harness/git.ts";
import { sendPush } from "../../test/harness/raw-push.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { type Host, type Hosts, pushNew } from "./hosts.ts";
import { fetchCommand } from "./raw-fetch.ts";
import { makeSmallPushes, type SmallPush } from "./small-pushes.ts";
import { measureClone } from "./sizes-case.ts";
import type { Subject } from "./subjects.ts";
import { type Figure, makeFigures, type Sample } from "./turns.ts";

/** How many of the first and of the last pushes are told of. */
const ENDS = 200;

/** Where they go. */
const BRANCH = "small-pushes";

interface Settings {
  readonly pushes: number;
  readonly rounds: number;
  readonly hosts: Hosts;
}

/** What one host showed, by the works of the table. */
type Works = ReadonlyMap<string, readonly Sample[]>;

/** Pushes on top of a history; the last ones after maintenance. Clones by a raw client lie between, the first apart from later ones. */
export async function measurePushes(subject: Subject, settings: Settings): Promise<Figure[]> {
  const tips = (
    await git(subject.dir, "for-each-ref", "--sort=-committerdate", "--format=%(objectname)", "refs/heads")
  ).split("\n");
  const { hosts, pushes } = settings;
  const ends: Works[] = [];
  let whole: string | undefined;
  for (const host of [hosts.native, hosts.holdfast]) {
    const works = new Map<string, readonly Sample[]>();
    const url = await pushNew(subject.dir, host);
    await cloneOften("before", { host, url, tip: tips[0]!, rounds: settings.rounds, works });
    let last = "";
    const times: number[] = [];
    let isTidy = false;
    for await (const push of makeSmallPushes(subject.dir, tips[0]!, pushes)) {
      const index = times.length;
      if (!isTidy && index >= pushes - ENDS) {
        await cloneOften("after the pushes", { host, url, tip: last, rounds: settings.rounds, works });
        works.set("maintenance", [await host.maintain(url)]);
        await cloneOften("after maintenance", { host, url, tip: last, rounds: settings.rounds, works });
        isTidy = true;
      }
      times.push(await sendOne(url, push, index === 0));
      last = push.new;
      if (index % 100 === 0) process.stderr.write(`small pushes: ${index} of ${pushes}\n`);
    }
    works.set(
      `the first ${ENDS} pushes`,
      times.slice(0, ENDS).map((ms) => ({ ms })),
    );
    works.set(
      `the last ${ENDS} pushes`,
      times.slice(-ENDS).map((ms) => ({ ms })),
    );
    whole ??= await mirror(url);
    const fresh = await pushNew(whole, host);
    await cloneOften("same in one push", { host, url: fresh, tip: last, rounds: settings.rounds, works });
    ends.push(works);
  }
  const [native, holdfast] = ends as [Works, Works];
  return [...holdfast.keys()].flatMap((work) =>
    makeFigures(`${work}, ${pushes} on ${subject.name}`, native.get(work) ?? [], holdfast.get(work) ?? []),
  );
}

async function cloneOften(
  state: string,
  run: {
    readonly host: Host;
    readonly url: string;
    readonly tip: string;
    readonly rounds: number;
    readonly works: Map<string, readonly Sample[]>;
  },
): Promise<void> {
  const { host, url, tip, rounds, works } = run;
  const command = fetchCommand([tip]);
  works.set(`first clone ${state}`, [await measureClone(host, url, command)]);
  const later: Sample[] = [];
  while (later.length < rounds) later.push(await measureClone(host, url, command));
  works.set(`clone ${state}`, later);
}

/** @returns how long the push took, ms
 * @throws Error if it is refused */
async function sendOne(url: string, push: SmallPush, creates: boolean): Promise<number> {
  const start = performance.now();
  const old = creates ? {} : { old: push.old };
  const answer = await sendPush(url, {
    commands: [{ name: `refs/heads/${BRANCH}`, ...old, new: push.new }],
    pack: push.pack,
  });
  const ms = performance.now() - start;
  if (answer.refs.get(`refs/heads/${BRANCH}`) !== null) {
    throw new Error(`a push was refused: ${answer.status} ${answer.unpack} ${answer.text.slice(0, 300)}`);
  }
  return ms;
}

async function mirror(url: string): Promise<string> {
  const dir = join(makeTempDir("mirror"), "mirror.git");
  await git(".", "clone", "-q", "--mirror", url, dir);
  return dir;
}
