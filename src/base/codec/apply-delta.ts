import { GitError } from "../format/errors.ts";

/** The sizes that a delta states, bytes.
 * @throws GitError "corrupt-delta" */
export function readDeltaSizes(delta: Uint8Array): { baseBytes: number; resultBytes: number; instructions: number } {
  const base = readSize(delta, 0);
  const result = readSize(delta, base.end);
  return { baseBytes: base.size, resultBytes: result.size, instructions: result.end };
}

/** Applies a delta without copying its base: for large ones, which the module would hold a second
 * time.
 * @throws GitError "corrupt-delta"
 * @see gitformat-pack(5) "Deltified representation" */
export function applyLargeDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
  const { baseBytes, resultBytes, instructions } = readDeltaSizes(delta);
  if (baseBytes !== base.length) throw corrupt(`it is not made for a base of ${base.length} bytes`);
  const result = new Uint8Array(resultBytes);
  let made = 0;
  for (let at = instructions; at < delta.length;) {
    const opcode = delta[at++]!;
    if (opcode < 0x80) {
      if (opcode === 0 || opcode > delta.length - at || opcode > resultBytes - made) throw malformed();
      result.set(delta.subarray(at, at + opcode), made);
      at += opcode;
      made += opcode;
      continue;
    }
    let from = 0;
    let size = 0;
    for (let bit = 0; bit < 4; bit++) if ((opcode & (1 << bit)) !== 0) from += (delta[at++] ?? NaN) * 2 ** (8 * bit);
    for (let bit = 0; bit < 3; bit++) if ((opcode & (0x10 << bit)) !== 0) size += (delta[at++] ?? NaN) * 2 ** (8 * bit);
    if (size === 0) size = 0x1_0000;
    // Written so that NaN, from missing bytes, fails as well.
    if (!(from + size <= base.length && size <= resultBytes - made)) throw malformed();
    result.set(base.subarray(from, from + size), made);
    made += size;
  }
  if (made !== resultBytes) throw malformed();
  return result;
}

function readSize(delta: Uint8Array, start: number): { size: number; end: number } {
  let size = 0;
  for (let at = start, shift = 1; at < delta.length && shift <= 2 ** 42; at++, shift *= 0x80) {
    size += (delta[at]! & 0x7f) * shift;
    if (delta[at]! < 0x80) return { size, end: at + 1 };
  }
  throw malformed();
}

function malformed(): GitError {
  return corrupt("its instructions are malformed");
}

function corrupt(reason: string): GitError {
  return new GitError("corrupt-delta", { reason });
}
