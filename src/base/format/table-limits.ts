// How many rows a client may have made, and how long their fields may be. A further one is refused,
// or the oldest goes.

/** Mirrors of one repository. */
export const MAX_MIRRORS = 10;

/** Contexts of one commit. */
export const MAX_CONTEXTS = 100;

/** How many of the last statuses are kept. */
export const MAX_STATUSES = 20_000;

/** Webhooks of one repository or owner. */
export const MAX_WEBHOOKS = 20;

/** Deliveries of one webhook that are kept. */
export const MAX_DELIVERIES = 50;

/** Maximum number of sessions of one token, and of the operator. A further one ends the oldest. */
export const MAX_SESSIONS = 20;

/** Maximum number of tokens of one owner, or of one repository. */
export const MAX_TOKENS = 1_000;

// What a client may say of another host's repository: the API's schemas and the pages' forms check
// it.

/** Characters of its address. */
export const MAX_URL_LENGTH = 2_000;

/** Characters of the header `Authorization` that it wants. */
export const MAX_AUTHORIZATION_LENGTH = 8_000;

/** What the names of refs begin with: how many of these, and the length of each. */
export const MAX_PREFIXES = 100;
export const MAX_PREFIX_LENGTH = 1_000;

/** Characters of a description. */
export const MAX_DESCRIPTION = 1_000;
