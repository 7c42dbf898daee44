import { refusePrivateAddress } from "../format/public-address.ts";
import type { Outside } from "../repository/state/outside.ts";
import type { Env } from "./env.ts";
import { wakeListeners } from "./listening.ts";

interface OwnerStub {
  tell(event: string): Promise<boolean>;
}

/** What a repository's object reaches outside of it. */
export function newOutside(context: DurableObjectState, env: Env): Outside {
  const { POLICY, EVENTS } = env;
  return {
    wakeListeners: () => wakeListeners(context),
    checkAddress: (url) => {
      if (env.ALLOW_PRIVATE_HOSTS !== "on") refusePrivateAddress(url);
    },
    fetch: (input, init) => fetch(input, init),
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
      fetch: (url, init) => (env.OUTSIDE === undefined ? fetch(url, init) : env.OUTSIDE.fetch(url, init)),
      allowsPrivate: env.ALLOW_PRIVATE_IMPORTS === "on",
      secretsKey: env.SECRETS_KEY ?? null,
    },
  };
}
