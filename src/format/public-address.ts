import ipaddr from "ipaddr.js";
import { GitError } from "./errors.ts";

/** Names that lead to this machine or its network, whatever a resolver says. */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|arpa)$/;

/** Refuses an address that a server must not ask for others: anything but HTTP, and hosts of this
 * machine or a private network. A host that is an address must be a public one; loopback, private,
 * link-local, shared (CGNAT), multicast, mapped and reserved ones are not. The URL parser has written
 * `0x7f.1` and its like as what they are. Where a name leads is not known here: the platform
 * reaches no private network.
 * @throws GitError "invalid" */
export function refusePrivateAddress(url: URL): void {
  const refuse = (reason: string): never => {
    throw new GitError("invalid", { what: "address", field: "url", reason });
  };
  if (url.protocol !== "https:" && url.protocol !== "http:") refuse("it must begin with https:// or http://");
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const isAddress = ipaddr.isValid(host);
  const isPublic = isAddress
    ? ipaddr.parse(host).range() === "unicast"
    : host.includes(".") && !PRIVATE_NAMES.test(host);
  if (!isPublic) refuse(`${host} belongs to this machine or a private network`);
}
