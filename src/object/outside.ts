import { refusePrivateAddress } from "../base/format/public-address.ts";
import type { Outside } from "./state/outside.ts";
import type { Env } from "../contract/env.ts";
import { wakeListeners } from "./listeners.ts";

interface OwnerStub {
  tell(event: string): Promise<boolean>;
}

/** What a repository's object reaches outside of it. */
export function newOutside(context: DurableObjectState, env: Env): Outside {
  const { POLICY, EVENTS } = env;
  const allowsPrivate = env.ALLOW_PRIVATE_HOSTS === "on";
  return {
    wakeListeners: () => wakeListeners(context),
    checkAddress: (url) => {
      if (!allowsPrivate) refusePrivateAddress(url);
    },
    fetch: asker(env.RECEIVERS),
    // Where access is open, everybody may ask this machine and its network without a webhook.
    showsAnswers: !allowsPrivate || env.ACCESS === "open",
    // The bindings are untyped, since their classes refer to each other.
    tellOwner: (owner, event) => (env.OWNERS.getByName(owner) as unknown as OwnerStub).tell(event),
    sendToQueue:
      EVENTS === undefined
        ? null
        : async (event) => void (await EVENTS.send(JSON.parse(event), { contentType: "json" })),
    askPolicy:
      POLICY === undefined
        ? null
        : (question) => {
            const headers = { "Content-Type": "application/json" };
            return POLICY.fetch("https://policy/", { method: "POST", headers, body: question });
          },
    imports: {
      fetch: asker(env.OUTSIDE),
      allowsPrivate: env.ALLOW_PRIVATE_IMPORTS === "on",
      secretsKey: env.SECRETS_KEY ?? null,
    },
  };
}

/** What asks other hosts.
 * @param service looks at the address to which it connects, whatever a name led to before;
 * undefined: the platform does */
function asker(service: Fetcher | undefined): (url: string, init: RequestInit) => Promise<Response> {
  return (url, init) => (service === undefined ? fetch(url, init) : service.fetch(url, init));
}
