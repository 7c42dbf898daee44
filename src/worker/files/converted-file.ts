import { CR, LF } from "../../base/format/ascii.ts";
import { fromByteString, toByteString } from "../../base/format/byte-string.ts";
import { CONVERT } from "../../contract/files.ts";

const DEL = 127;

/** Changes a file's content as git does at checkout.
 * @param conversion bits of `CONVERT`
 * @param oid of the file, hex
 * @see gitattributes(5) "Checking-out and checking-in", git's convert.c:
 * convert_to_working_tree_ca_internal() */
export function convertFile(content: Uint8Array, conversion: number, oid: string): Uint8Array {
  const identified = (conversion & CONVERT.ident) === 0 ? content : expandIdent(content, oid);
  if ((conversion & (CONVERT.crlf | CONVERT.autoCrlf)) === 0) return identified;
  const { loneLf, loneCr, crlf, isBinary } = countLineEnds(identified);
  if (loneLf === 0) return identified;
  const isAuto = (conversion & CONVERT.autoCrlf) !== 0;
  if (isAuto && (loneCr > 0 || crlf > 0 || isBinary)) return identified;
  const converted = new Uint8Array(identified.length + loneLf);
  let end = 0;
  identified.forEach((byte, at) => {
    if (byte === LF && identified[at - 1] !== CR) converted[end++] = CR;
    converted[end++] = byte;
  });
  return converted;
}

/** @see git's convert.c: ident_to_worktree() */
function expandIdent(content: Uint8Array, oid: string): Uint8Array {
  // An `$Id$` that another system expanded, or that contains foreign text, stays.
  const expanded = toByteString(content).replace(/\$Id(?:\$|:([^$\n]*)\$)/g, (whole, inner: string | undefined) => {
    const isForeign = inner !== undefined && inner.indexOf(" ", 1) >= 0 && inner.indexOf(" ", 1) < inner.length - 1;
    return isForeign ? whole : `$Id: ${oid} $`;
  });
  return fromByteString(expanded);
}

/** @see git's convert.c: gather_stats(), convert_is_binary() */
function countLineEnds(content: Uint8Array): { loneLf: number; loneCr: number; crlf: number; isBinary: boolean } {
  let [loneLf, loneCr, crlf, printable, nonPrintable, nul] = [0, 0, 0, 0, 0, 0];
  for (let at = 0; at < content.length; at++) {
    const byte = content[at]!;
    if (byte === CR && content[at + 1] === LF) {
      crlf++;
      at++;
    } else if (byte === CR) loneCr++;
    else if (byte === LF) loneLf++;
    else if (byte === DEL) nonPrintable++;
    // Backspace, tab, escape and form feed occur in text.
    else if (byte >= 32 || byte === 8 || byte === 9 || byte === 27 || byte === 12) printable++;
    else {
      nonPrintable++;
      if (byte === 0) nul++;
    }
  }
  // A trailing end-of-file character (Ctrl-Z) is allowed.
  if (content.at(-1) === 26) nonPrintable--;
  return { loneLf, loneCr, crlf, isBinary: loneCr > 0 || nul > 0 || printable >> 7 < nonPrintable };
}
