import { deflateSync, inflateSync } from "node:zlib";
export function instantiateCodec(_m: WebAssembly.Module) {
  return {
    inflate: (z: Uint8Array, n: number) => new Uint8Array(inflateSync(z, { maxOutputLength: n + 1 })),
    deflate: (b: Uint8Array) => new Uint8Array(deflateSync(b)),
    applyDelta(base: Uint8Array, d: Uint8Array): Uint8Array {
      let p = 0; const v = () => { let r = 0, s = 1, c; do { c = d[p++]!; r += (c & 127) * s; s *= 128; } while (c & 128); return r; };
      v(); const n = v(); const out = new Uint8Array(n); let o = 0;
      while (p < d.length) { const c = d[p++]!; if (c & 128) { let off = 0, len = 0; for (let i = 0; i < 4; i++) if (c & (1 << i)) off += d[p++]! * 2 ** (8 * i); for (let i = 0; i < 3; i++) if (c & (16 << i)) len += d[p++]! << (8 * i); if (!len) len = 65536; out.set(base.subarray(off, off + len), o); o += len; } else { out.set(d.subarray(p, p + c), o); p += c; o += c; } }
      return out;
    },
  };
}
