// What a client may say of another host's repository: the API's schemas and the pages' forms check
// it.

/** Characters of its address. */
export const MAX_URL_LENGTH = 2_000;

/** Characters of the header `Authorization` that it wants. */
export const MAX_AUTHORIZATION_LENGTH = 8_000;

/** The value of a header: visible ASCII characters, with spaces among them. */
export const AUTHORIZATION = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** What the names of refs begin with: how many of these, and the length of each. */
export const MAX_PREFIXES = 100;
export const MAX_PREFIX_LENGTH = 1_000;

/** One of them. A pkt-line of the protocol takes no control character. */
// oxlint-disable-next-line no-control-regex -- it excludes them.
export const PREFIX = /^refs\/[^\x00-\x20\x7f]*$/;
