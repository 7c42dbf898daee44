const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const BYTES_PER_LINE = 52;

/** Writes a hunk from which `git apply` makes a binary file: the whole content, deflated, in base
 * 85.
 * @param sizeBytes size of the content before deflating
 * @param deflated the content as a zlib stream
 * @see git's apply.c: parse_binary_hunk() */
export function formatLiteral(sizeBytes: number, deflated: Uint8Array): string {
  const lines = [`literal ${sizeBytes}\n`];
  for (let at = 0; at < deflated.length; at += BYTES_PER_LINE) {
    lines.push(formatLine(deflated.subarray(at, at + BYTES_PER_LINE)));
  }
  return `${lines.join("")}\n`;
}

function formatLine(bytes: Uint8Array): string {
  // The line's length comes first: A to Z are 1 to 26, a to z are 27 to 52.
  let line = String.fromCharCode(bytes.length <= 26 ? 0x40 + bytes.length : 0x60 + bytes.length - 26);
  for (let at = 0; at < bytes.length; at += 4) {
    let word = 0;
    for (let i = 0; i < 4; i++) word = word * 256 + (bytes[at + i] ?? 0);
    let digits = "";
    for (let i = 0; i < 5; i++) {
      digits = DIGITS[word % 85]! + digits;
      word = Math.floor(word / 85);
    }
    line += digits;
  }
  return `${line}\n`;
}
