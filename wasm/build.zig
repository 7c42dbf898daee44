const std = @import("std");

// C sources as build.sh puts them there.
const libdeflate = ".sources/libdeflate-sys/libdeflate/lib/";
const zlib = ".sources/libz-sys/src/zlib/";

pub fn build(b: *std.Build) void {
    const module = b.createModule(.{
        .root_source_file = b.path("src/main.zig"),
        .target = b.resolveTargetQuery(std.Target.Query.parse(.{
            .arch_os_abi = "wasm32-freestanding",
            .cpu_features = "generic+simd128+bulk_memory+sign_ext+nontrapping_fptoint",
        }) catch unreachable),
        .optimize = .ReleaseSafe,
        .strip = true,
        .single_threaded = true,
        // The C libraries are written for, and tested with, what the sanitizer calls undefined.
        .sanitize_c = .off,
    });
    module.addCSourceFiles(.{
        .root = b.path(libdeflate),
        .files = &.{ "adler32.c", "deflate_compress.c", "deflate_decompress.c", "utils.c", "zlib_compress.c", "zlib_decompress.c" },
        // FREESTANDING: no libc. The memory comes from deflate.zig.
        .flags = &.{ "-std=c11", "-fvisibility=hidden", "-DFREESTANDING" },
    });
    module.addCSourceFiles(.{
        .root = b.path(zlib),
        .files = &.{ "adler32.c", "deflate.c", "inffast.c", "inflate.c", "inftrees.c", "trees.c", "zutil.c" },
        // Z_SOLO: no libc, no allocator of its own. NO_GZIP: zlib streams only.
        .flags = &.{
            "-std=c11",                  "-fvisibility=hidden",       "-DZ_SOLO",                  "-DNO_GZIP", "-DHAVE_MEMCPY",
            "-Dmemcpy=__builtin_memcpy", "-Dmemset=__builtin_memset", "-Dmemcmp=__builtin_memcmp",
        },
    });
    const wasm = b.addExecutable(.{ .name = "holdfast", .root_module = module });
    wasm.entry = .disabled;
    wasm.rdynamic = true;
    wasm.stack_size = 256 << 10;
    b.installArtifact(wasm);
}
