//! The contract of the `sink: anytype` that every check reports to.
//!
//!     fn report(self, Message) void               a finding, perhaps a repeated one
//!     fn edge(self, *const Oid, Kind) void        a reference to an object, which must exist
//!                                                 and have this kind
//!     fn special(self, *const Oid, Special) void  a tree names a blob that has rules of its own
//!     fn commitTime(self, u64) void               seconds since 1970, once for a commit that has a
//!                                                 committer
//!
//! Oids are valid during the call only. A gitlink is not an edge, since its commit is in another
//! repository; and git takes every tree entry that is not a directory, file or symlink by its mode
//! for a gitlink. The receiver of a `special` itself reports `gitmodulesMissing`, `gitmodulesBlob`
//! (not a blob) or `gitmodulesLarge` (too large to hold), and likewise for `.gitattributes`.
//!
//! A check continues after a finding, as git does after a warning, because each repository chooses
//! which findings refuse an object. It stops where the structure ends.

pub const oid_bytes = 20;
pub const oid_hex_bytes = 2 * oid_bytes;
pub const Oid = [oid_bytes]u8;

/// Object types by their numbers in a pack. See gitformat-pack(5).
pub const Kind = enum(u3) { commit = 1, tree = 2, blob = 3, tag = 4 };

/// Blobs that are checked because of their name in a tree.
pub const Special = enum { gitmodules, gitattributes };
