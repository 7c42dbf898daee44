//! Limits another allocator to a number of bytes: for tables that grow with untrusted input.

const std = @import("std");
const Alignment = std.mem.Alignment;

pub const Budget = struct {
    inner: std.mem.Allocator,
    left: usize,
    /// Bytes of the refused allocation; 0: none was refused.
    refused: usize = 0,
    /// Frees memory that its holder can do without, until so many bytes are left, or no more can
    /// go.
    giveBack: ?*const fn (budget: *Budget, needed: usize) void = null,

    pub fn allocator(self: *Budget) std.mem.Allocator {
        return .{ .ptr = self, .vtable = &.{ .alloc = alloc, .resize = resize, .remap = remap, .free = free } };
    }

    fn alloc(context: *anyopaque, len: usize, alignment: Alignment, address: usize) ?[*]u8 {
        const self = of(context);
        if (!self.affords(len)) return null;
        const taken = self.inner.rawAlloc(len, alignment, address) orelse return null;
        self.left -= len;
        return taken;
    }

    fn resize(context: *anyopaque, memory: []u8, alignment: Alignment, new_len: usize, address: usize) bool {
        const self = of(context);
        if (new_len > memory.len and !self.affords(new_len - memory.len)) return false;
        if (!self.inner.rawResize(memory, alignment, new_len, address)) return false;
        self.left = self.left + memory.len - new_len;
        return true;
    }

    fn remap(context: *anyopaque, memory: []u8, alignment: Alignment, new_len: usize, address: usize) ?[*]u8 {
        return if (resize(context, memory, alignment, new_len, address)) memory.ptr else null;
    }

    fn free(context: *anyopaque, memory: []u8, alignment: Alignment, address: usize) void {
        const self = of(context);
        self.inner.rawFree(memory, alignment, address);
        self.left += memory.len;
    }

    fn affords(self: *Budget, len: usize) bool {
        if (len <= self.left) return true;
        if (self.giveBack) |giveBack| giveBack(self, len);
        if (len <= self.left) return true;
        self.refused = len;
        return false;
    }

    fn of(context: *anyopaque) *Budget {
        return @ptrCast(@alignCast(context));
    }
};
