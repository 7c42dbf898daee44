// How much of commits and tags is read and shown. Exceeding one is no error: the answer says what
// is cut.

const KIB = 1024;
const MIB = 1024 * KIB;

/** Headers of a commit or tag after those that it must have, and their bytes, that are read: a
 * signature, and a `mergetag` for each signed tag that was merged. What follows is left out. */
export const MAX_EXTRA_HEADERS = 1_000;
export const MAX_EXTRA_HEADER_BYTES = 1 * MIB;

/** Lines that continue the headers of one commit or tag. A `mergetag` has as many as the tag's
 * message. Headers behind more of them are left out. */
export const MAX_CONTINUATION_LINES = 100_000;

/** Parents of a commit that are shown. Git's own limit of an octopus merge is below a hundred. */
export const MAX_SHOWN_PARENTS = 10_000;

/** First bytes of a commit or tag that lists and searches read: all of it, but for one that nobody
 * writes by hand. */
export const MAX_HEAD_BYTES = 64 * KIB;

/** Bytes of commits and tags beyond their heads that one list reads: of those whose headers are so
 * long that the rest is not in the head, and of large deltas. */
export const MAX_LIST_READ_BYTES = 16 * MIB;

/** Bytes of a message, of a name and of an email, and the parents, that a list tells of each commit
 * or tag. */
export const MAX_LISTED_MESSAGE_BYTES = 16 * KIB;
export const MAX_LISTED_NAME_BYTES = 255;
export const MAX_LISTED_PARENTS = 100;

/** Bytes of all that a list tells of commits and tags. Beyond it they are cut as short as
 * `MAX_BRIEF_MESSAGE_BYTES` and `MAX_BRIEF_NAME_BYTES`, with two parents. The object passes a list
 * to the Worker in one call, which takes 32 MiB. */
export const MAX_LIST_TEXT_BYTES = 4 * MIB;
export const MAX_BRIEF_MESSAGE_BYTES = 100;
export const MAX_BRIEF_NAME_BYTES = 40;
export const MAX_BRIEF_PARENTS = 2;

/** Bytes of a message that are shown at a time: a longer one comes in parts. Bytes of a name, an
 * email and a signature of a commit or tag that is shown by itself. */
export const MESSAGE_PART_BYTES = 256 * KIB;
export const MAX_SHOWN_HEADER_BYTES = 64 * KIB;
