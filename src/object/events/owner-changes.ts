// A repository that was renamed may have another owner.
import { OWNER_ID } from "../store/events/webhook-table.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { addEvent, newestEvent, type StoredEvent } from "./events.ts";
import { enterOwner } from "./inner-receivers.ts";
import type { RepositoryChange } from "../../contract/events.ts";

/** Records that the repository was renamed, published or hidden, after the registry has changed
 * it. */
export async function noteRepositoryChange(
  { state, tables, requester }: OpenRepository,
  change: RepositoryChange,
): Promise<void> {
  const owner = newOwner(change);
  state.transactAside(() => {
    // Only a message to the new owner's log can show whether it has listeners. The former owner's
    // log gets its messages first.
    const known = tables.webhooks.find(OWNER_ID);
    if (owner !== null && known?.disabled !== null) enterOwner(tables, owner, newestEvent(tables));
    addEvent(state, tables, requester, "repository", change);
  });
}

/** Returns the repository's owner since an event, in lower case; null: the event did not change the
 * owner. */
export function newOwnerOf(event: StoredEvent): string | null {
  const isRenamed = event.kind === "other" && event.event.type === "repository";
  return isRenamed ? newOwner(event.event.data as unknown as RepositoryChange) : null;
}

function newOwner(change: RepositoryChange): string | null {
  if (change.action !== "renamed") return null;
  const [from, to] = [change.from, change.to].map((name) => name.split("/")[0]!.toLowerCase());
  return from === to ? null : to!;
}
