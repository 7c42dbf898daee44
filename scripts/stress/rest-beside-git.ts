/** Clients of the API at work beside one that pushes, and one that clones. */
import { Random } from "../../test/harness/random.ts";
import { fetchCommit, RestClient, SeenCommits } from "./rest-client.ts";
import type { Scale } from "./scale.ts";
import { MAIN, type StressedRepository } from "./stressed-repository.ts";

/** Has as many clients use the API as push in races. */
export async function mixRest(repository: StressedRepository, random: Random, scale: Scale): Promise<void> {
  const seen = new SeenCommits();
  const tip = (await repository.look())?.get(MAIN);
  if (tip === undefined) return;
  for (const oid of (await repository.history.tell("rev-list", "--reverse", tip)).split("\n")) seen.add(oid);
  const clients = Array.from({ length: scale.clients }, (_, i) => {
    const own = new Random(random.below(2 ** 32));
    return new RestClient(repository, own, seen, `api-${i}`).work(scale.requests);
  });
  let isOver = false;
  const over = Promise.all(clients).finally(() => (isOver = true));
  await repository.cloneBeside("clone beside REST", 1, [over, pushUntil(repository, random, seen, () => isOver)]);
}

/** Pushes to the branch to which the API commits: who comes late is refused, and begins anew. */
async function pushUntil(
  repository: StressedRepository,
  random: Random,
  seen: SeenCommits,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const old = (await repository.look())?.get(MAIN);
    if (old === undefined) return;
    const isKnown = await repository.check("fetch of the branch", () => fetchCommit(repository, old));
    if (!isKnown) return;
    const next = await repository.history.change(old, 1, random);
    if ((await repository.push("push beside REST", { ref: MAIN, old, next })) === true) seen.add(next);
  }
}
