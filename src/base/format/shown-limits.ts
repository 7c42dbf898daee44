// Limits for reading and showing commits and tags. Exceeding one is no error: the answer states the
// truncation.

const KIB = 1024;
const MIB = 1024 * KIB;

/** Limits of the headers after the mandatory ones of a commit or tag: their number and their
 * bytes. Such headers are a signature, and a `mergetag` for each signed tag that was merged.
 * Further ones are left out. */
export const MAX_EXTRA_HEADERS = 1_000;
export const MAX_EXTRA_HEADER_BYTES = 1 * MIB;

/** Continuation lines of all headers of one commit or tag. A `mergetag` has as many as the tag's
 * message. Headers behind more lines are left out. */
export const MAX_CONTINUATION_LINES = 100_000;

/** Parents of a commit that are shown. Git's own limit of an octopus merge is below a hundred. */
export const MAX_SHOWN_PARENTS = 10_000;

/** First bytes of a commit or tag that lists and searches read. Only machine-made ones are
 * longer. */
export const MAX_HEAD_BYTES = 64 * KIB;

/** Bytes that one list reads of commits and tags beyond their heads: if their headers are longer
 * than the head, and for large deltas. */
export const MAX_LIST_READ_BYTES = 16 * MIB;

/** Limits of each commit or tag in a list: bytes of the message, of a name and of an email, and
 * number of parents. */
export const MAX_LISTED_MESSAGE_BYTES = 16 * KIB;
export const MAX_LISTED_NAME_BYTES = 255;
export const MAX_LISTED_PARENTS = 100;

/** Bytes of all commits and tags in a list. Beyond it they are truncated to
 * `MAX_BRIEF_MESSAGE_BYTES` and `MAX_BRIEF_NAME_BYTES`, with two parents. The object passes a
 * list to the Worker in one call, which takes 32 MiB. */
export const MAX_LIST_TEXT_BYTES = 4 * MIB;
export const MAX_BRIEF_MESSAGE_BYTES = 100;
export const MAX_BRIEF_NAME_BYTES = 40;
export const MAX_BRIEF_PARENTS = 2;

/** Bytes of one part of a message; a longer message is shown in parts. Limit in bytes of a name,
 * an email and a signature of a commit or tag that is shown by itself. */
export const MESSAGE_PART_BYTES = 256 * KIB;
export const MAX_SHOWN_HEADER_BYTES = 64 * KIB;
