/** Very many small pushes: what each takes, and what they leave of a clone. */
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { sendPush } from "../../../test/harness/raw-push.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { type Measures, type Sample, toSamples } from "../figures/sample.ts";
import { type Host, pushNew } from "../hosts/host.ts";
import { type Hosts, onEach } from "../hosts/hosts.ts";
import { fetchCommand } from "../work/raw-fetch.ts";
import { makeSmallPushes, type SmallPush } from "../work/small-pushes.ts";
import { measureClone } from "./sizes.ts";
import type { Subject } from "../work/subjects.ts";

/** How many of the first and of the last pushes are told of. */
const ENDS = 200;

/** Where they go. */
const BRANCH = "small-pushes";

interface Settings {
  readonly pushes: number;
  readonly rounds: number;
  readonly hosts: Hosts;
}

/** Pushes on top of a history; the last ones after maintenance. Clones by a raw client lie between, the first apart from later ones. */
export async function measurePushes(subject: Subject, settings: Settings): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const [side, measure] of Object.entries(onEach(settings.hosts, (host) => measureOn(host, subject, settings)))) {
    for (const [work, list] of await measure()) {
      const described = { work, repository: subject.name, pushes: settings.pushes };
      samples.push(...list.flatMap((measures, index) => toSamples(described, side, index + 1, measures)));
    }
  }
  return samples;
}

/** What one host showed, by work. */
type Works = Map<string, readonly Measures[]>;

async function measureOn(host: Host, subject: Subject, { pushes, rounds }: Settings): Promise<Works> {
  const newest = ["--sort=-committerdate", "--count=1", "--format=%(objectname)"];
  const tip = await git(subject.dir, "for-each-ref", ...newest, "refs/heads");
  const works: Works = new Map();
  const url = await pushNew(subject.dir, host);
  await cloneOften("before", { host, url, tip, rounds, works });
  let last = "";
  const times: Measures[] = [];
  for await (const push of makeSmallPushes(subject.dir, tip, pushes)) {
    const index = times.length;
    if (index === Math.max(0, pushes - ENDS)) {
      await cloneOften("after the pushes", { host, url, tip: index === 0 ? tip : last, rounds, works });
      works.set("maintenance", [await host.maintain(url)]);
      await cloneOften("after maintenance", { host, url, tip: index === 0 ? tip : last, rounds, works });
    }
    times.push({ ms: await sendOne(url, push, index === 0) });
    last = push.new;
    if (index % 100 === 0) process.stderr.write(`small pushes: ${index} of ${pushes}\n`);
  }
  works.set(`the first ${ENDS} pushes`, times.slice(0, ENDS));
  works.set(`the last ${ENDS} pushes`, times.slice(-ENDS));
  const fresh = await pushNew(await mirror(url), host);
  await cloneOften("same in one push", { host, url: fresh, tip: last, rounds, works });
  return works;
}

async function cloneOften(
  state: string,
  run: {
    readonly host: Host;
    readonly url: string;
    readonly tip: string;
    readonly rounds: number;
    readonly works: Works;
  },
): Promise<void> {
  const { host, url, tip, rounds, works } = run;
  const command = fetchCommand([tip]);
  works.set(`first clone ${state}`, [await measureClone(host, url, command)]);
  const later: Measures[] = [];
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
