// Decides whether an address may be asked. Without it, anyone who may import could have the server
// read what only the server's own network can reach. Where a name leads is known only when it is
// asked, and only to the platform: a deployed Worker reaches public addresses only, and `npm start`
// has the runtime refuse others when it connects (scripts/start/worker-options.ts).
import { GitError } from "../../format/errors.ts";

/** Names that lead to the own machine or network, and names below them. */
const PRIVATE_NAMES = ["localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa", "onion"];

/** IPv4 networks that are not public: first address, and bits of the prefix.
 * @see IANA IPv4 Special-Purpose Address Registry */
const PRIVATE_IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // With the address that serves a cloud machine's credentials, 169.254.169.254.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  // Multicast, then what is reserved, and broadcast.
  ["224.0.0.0", 3],
];

/** Checks the address of a repository, or one that it leads to. URL parsing has already made one
 * spelling of the many that an IP address has.
 * @param allowsPrivate whether it may be in a private network
 * @throws GitError "invalid" with the reason */
export function checkAddress(text: string, allowsPrivate: boolean): URL {
  if (!URL.canParse(text)) throw refuse("it is not a URL; write https://host/path");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse("only https: and http: are followed");
  if (url.username !== "" || url.password !== "") throw refuse("it has a user or password; send `authorization`");
  if (url.search !== "" || url.hash !== "") throw refuse("it has a query or a fragment");
  if (!allowsPrivate && isPrivate(url.hostname)) throw refuse(`${url.hostname} is no public address`);
  return url;
}

/** @param hostname as `URL` has it: lower case, IP addresses in their shortest form */
function isPrivate(hostname: string): boolean {
  if (hostname.startsWith("[")) return !isPublicIpv6(hostname.slice(1, -1));
  const name = hostname.replace(/\.$/, "");
  if (/^\d+\.\d+\.\d+\.\d+$/.test(name)) {
    const address = ipv4Number(name);
    return PRIVATE_IPV4.some(([first, bits]) => (address ^ ipv4Number(first)) >>> (32 - bits) === 0);
  }
  // A name of one word is looked up in the own domain.
  return !name.includes(".") || PRIVATE_NAMES.some((end) => name === end || name.endsWith(`.${end}`));
}

function ipv4Number(address: string): number {
  return address.split(".").reduce((sum, part) => (sum << 8) | Number(part), 0);
}

/** Only global unicast is public, without what carries or documents other addresses: 2001::/23
 * (Teredo among them), 2001:db8::/32, 2002::/16 (6to4) and 3fff::/20. */
function isPublicIpv6(address: string): boolean {
  const [first = 0, second = 0] = address.split(":").map((group) => Number.parseInt(group || "0", 16));
  if (first < 0x2000 || first > 0x3fff || first === 0x2002) return false;
  if (first === 0x2001) return second >= 0x200 && second !== 0xdb8;
  return first !== 0x3fff || second >= 0x1000;
}

function refuse(reason: string): GitError {
  return new GitError("invalid", { what: "address", field: "url", reason });
}
