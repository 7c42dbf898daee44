// Limits for the rows that clients can make, and for their fields. A row above a limit is refused,
// or replaces the oldest one.

/** Mirrors of one repository. */
export const MAX_MIRRORS = 10;

/** Contexts of one commit. */
export const MAX_CONTEXTS = 100;

/** Statuses that are kept; older ones are dropped. */
export const MAX_STATUSES = 20_000;

/** Webhooks of one repository or owner. */
export const MAX_WEBHOOKS = 20;

/** Deliveries that are kept of one webhook. */
export const MAX_DELIVERIES = 50;

/** Sessions of one token, and of the operator. A further one ends the oldest. */
export const MAX_SESSIONS = 20;

/** Tokens of one owner, or of one repository. */
export const MAX_TOKENS = 1_000;

// Limits for the settings of another host's repository. `contract/remote-settings.ts` checks them.

/** Characters of the URL. */
export const MAX_URL_LENGTH = 2_000;

/** Characters of the header `Authorization` for the other host. */
export const MAX_AUTHORIZATION_LENGTH = 8_000;

/** Limits of the prefixes of ref names: their number, and the length of each. */
export const MAX_PREFIXES = 100;
export const MAX_PREFIX_LENGTH = 1_000;

/** Characters of a description. */
export const MAX_DESCRIPTION = 1_000;
