//! What a check says, and to whom: the contract of the `sink: anytype` that every check takes.
//!
//!     fn report(self, Message) void            a finding; the same one may come more than once
//!     fn edge(self, *const Oid, Kind) void     the object names another, which must exist and be of this kind
//!     fn special(self, *const Oid, Special) void   a tree names a blob that has rules of its own
//!     fn commitTime(self, u64) void            seconds since the epoch, once for a commit that has a committer
//!
//! Oids are valid during the call only. A gitlink is no edge: the commit it names lives elsewhere; and to
//! git every entry of a tree that is no directory, file or symlink by its mode is a gitlink.
//! Whoever follows a `special` reports `gitmodulesMissing`, `gitmodulesBlob` (not a blob) or
//! `gitmodulesLarge` (too large to hold) itself, and likewise for `.gitattributes`.
//!
//! A check goes on after a finding, as git does when the finding is only a warning, because which
//! findings refuse an object is each repository's choice. It stops where the structure ends.

pub const oid_bytes = 20;
pub const oid_hex_bytes = 2 * oid_bytes;
pub const Oid = [oid_bytes]u8;

/// Object types by their numbers in a pack. See gitformat-pack(5).
pub const Kind = enum(u3) { commit = 1, tree = 2, blob = 3, tag = 4 };

/// Blobs that are checked by the name a tree gives them.
pub const Special = enum { gitmodules, gitattributes };
