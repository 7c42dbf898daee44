import ipaddr from "ipaddr.js";
import { GitError } from "./errors.ts";

/** Names that lead to this machine or its network, whatever a resolver answers. */
const PRIVATE_NAMES = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|onion|arpa)$/;

/** The range of all assigned IPv6 addresses.
 * @see IANA IPv6 Global Unicast Address Assignments */
const GLOBAL_IPV6 = "2000::/3";

/** Whether the server may connect to a host on a client's behalf: no name or address of this
 * machine or a private network. An address must be public, and not loopback, private, link-local,
 * shared (CGNAT), multicast, mapped or reserved. A name must have no empty label, except the
 * root's at its end. The address behind a name is unknown here: the code that connects must check
 * it.
 * @param hostname as `URL` parses it, which normalises forms such as `0x7f.1` */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (ipaddr.IPv4.isValid(host)) return ipaddr.IPv4.parse(host).range() === "unicast";
  if (ipaddr.IPv6.isValid(host)) {
    const address = ipaddr.IPv6.parse(host);
    return address.range() === "unicast" && address.match(ipaddr.IPv6.parseCIDR(GLOBAL_IPV6));
  }
  // Refuses a name of one word, because it is looked up in the server's own domain.
  return host.includes(".") && !host.split(".").includes("") && !PRIVATE_NAMES.test(host);
}

/** Refuses a URL to which a server must not connect on a client's behalf: anything but HTTP, and
 * hosts that are not public.
 * @throws GitError "invalid" */
export function refusePrivateAddress({ protocol, hostname }: URL): void {
  const refuse = (reason: string): GitError => new GitError("invalid", { what: "address", field: "url", reason });
  if (protocol !== "https:" && protocol !== "http:") throw refuse("it must begin with https:// or http://");
  if (!isPublicHost(hostname)) throw refuse(`${hostname} belongs to this machine or a private network`);
}
