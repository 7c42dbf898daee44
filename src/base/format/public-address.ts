import ipaddr from "ipaddr.js";
import { GitError } from "./errors.ts";

/** Names that lead to this machine or its network, whatever a resolver says. */
const PRIVATE_NAMES = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|onion|arpa)$/;

/** All IPv6 addresses that are given out.
 * @see IANA IPv6 Global Unicast Address Assignments */
const GLOBAL_IPV6 = "2000::/3";

/** Whether a host may be asked for others: no name or address of this machine or a private network.
 * A host that is an address must be a public one; loopback, private, link-local, shared (CGNAT),
 * multicast, mapped and reserved ones are not. A name has no empty label, but for the root's at its
 * end. Where a name leads is not known here: what connects must look at the address.
 * @param hostname as `URL` has it, which has written `0x7f.1` and its like as what they are */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (ipaddr.IPv4.isValid(host)) return ipaddr.IPv4.parse(host).range() === "unicast";
  if (ipaddr.IPv6.isValid(host)) {
    const address = ipaddr.IPv6.parse(host);
    return address.range() === "unicast" && address.match(ipaddr.IPv6.parseCIDR(GLOBAL_IPV6));
  }
  // A name of one word is looked up in the own domain.
  return host.includes(".") && !host.split(".").includes("") && !PRIVATE_NAMES.test(host);
}

/** Refuses an address that a server must not ask for others: anything but HTTP, and hosts that are
 * not public.
 * @throws GitError "invalid" */
export function refusePrivateAddress({ protocol, hostname }: URL): void {
  const refuse = (reason: string): GitError => new GitError("invalid", { what: "address", field: "url", reason });
  if (protocol !== "https:" && protocol !== "http:") throw refuse("it must begin with https:// or http://");
  if (!isPublicHost(hostname)) throw refuse(`${hostname} belongs to this machine or a private network`);
}
