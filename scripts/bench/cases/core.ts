/** Holdfast's Git core beside native git: whole histories. */
import { git } from "../../../test/harness/git.ts";
import { fetchCommand } from "../../../test/harness/raw-fetch.ts";
import { parts } from "../../options.ts";
import { type Bench, BUNDLE, defineCase, rounds } from "../figures/bench.ts";
import { type Host, measureClone, measureCost, measureRaw, pushNew } from "../hosts/host.ts";
import { HOST_OPTIONS, type Hosts, listHosts, onEach, openHosts } from "../hosts/hosts.ts";
import { makeNoise, openSubjects, type Subject } from "../work/subjects.ts";

const NOISE_FILES = [1000, 5000];

export const core = defineCase({
  summary: "push, fetch by a raw client and clone of whole histories",
  about: `push   git push --mirror into an empty repository
fetch  the whole pack to a raw client that discards it, and git clone --mirror
noise  push and clone of one commit with ${NOISE_FILES.join(" and ")} files that do not compress to deltas`,
  options: { only: parts(["push", "fetch", "noise"]), rounds: rounds(5), bundle: BUNDLE, ...HOST_OPTIONS },
  async measure(values, bench) {
    const hosts = await openHosts(values, bench);
    const subjects = await openSubjects(values.bundle);
    for (const name of values.only) {
      if (name === "noise") {
        for (const files of NOISE_FILES)
          await bench.attempt(`${files} files`, () => measureNoise(files, values.rounds, hosts, bench));
      } else {
        const measure = name === "push" ? measurePush : measureFetch;
        for (const subject of subjects)
          await bench.attempt(`${name} ${subject.name}`, () => measure(subject, values.rounds, hosts, bench));
      }
    }
  },
});

function measurePush({ name, dir }: Subject, rounds: number, hosts: Hosts, bench: Bench): Promise<void> {
  const push = async (host: Host) => {
    const url = await host.makeRepository();
    return measureCost(host, () => git(dir, "push", "-q", "--mirror", url));
  };
  return bench.takeTurns({ work: "push", repository: name }, rounds, onEach(hosts, push));
}

/** From a repository that got everything in one push. */
async function measureFetch({ name, dir }: Subject, rounds: number, hosts: Hosts, bench: Bench): Promise<void> {
  const urls = await pushOnce(dir, hosts);
  const tips = await git(dir, "for-each-ref", "--format=%(objectname)");
  const command = fetchCommand([...new Set(tips.split("\n"))]);
  const raw = onEach(hosts, (host) => measureRaw(host, urls.get(host)!, command));
  await bench.takeTurns({ work: "fetch, raw client", repository: name }, rounds, raw);
  const clone = onEach(hosts, (host) => measureClone(host, urls.get(host)!, "--mirror"));
  await bench.takeTurns({ work: "clone --mirror", repository: name }, rounds, clone);
}

async function measureNoise(files: number, rounds: number, hosts: Hosts, bench: Bench): Promise<void> {
  const subject = await makeNoise(files);
  await measurePush(subject, rounds, hosts, bench);
  const urls = await pushOnce(subject.dir, hosts);
  const clone = onEach(hosts, (host) => measureClone(host, urls.get(host)!));
  await bench.takeTurns({ work: "clone", repository: subject.name }, rounds, clone);
}

async function pushOnce(dir: string, hosts: Hosts): Promise<ReadonlyMap<Host, string>> {
  const urls = new Map<Host, string>();
  for (const host of listHosts(hosts)) urls.set(host, await pushNew(dir, host));
  return urls;
}
