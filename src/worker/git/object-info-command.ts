import { isHexOid, OID_BYTES, toHex } from "../../base/format/oid.ts";
import { OidList, type ReadArguments } from "./fetch-arguments.ts";
import { type FetchContext, refusalResponse, unknownRepositoryResponse } from "./fetch-context.ts";
import { PacketText } from "../../base/http/packet-text.ts";
import { resultResponse } from "../../base/http/smart-http.ts";

/** Serves the command `object-info`: sizes of objects without the objects.
 * @see gitprotocol-v2(5) */
export async function handleObjectInfo(
  readArguments: ReadArguments,
  { source, limits }: FetchContext,
): Promise<Response> {
  const asked = new OidList(limits.maxWants);
  let wantsSize = false;
  const refusal = await readArguments((line) => {
    if (line.startsWith("oid ")) {
      const hex = line.slice("oid ".length);
      return isHexOid(hex) ? asked.add(hex) : `object-info: protocol error, expected to get oid, not '${hex}'`;
    }
    wantsSize ||= line === "size";
    return line === "size" ? null : `object-info: unexpected line: '${line}'`;
  });
  if (refusal !== null) return refusalResponse(refusal);
  const oids = asked.toBytes();
  const sizes = await source.sizes(oids);
  return sizes === null
    ? unknownRepositoryResponse()
    : resultResponse("git-upload-pack", encodeInfo(oids, sizes, wantsSize));
}

function encodeInfo(oids: Uint8Array, sizes: Float64Array, wantsSize: boolean): Uint8Array {
  const packets = new PacketText();
  if (wantsSize && sizes.length > 0) packets.bare("size");
  sizes.forEach((size, i) => {
    const hex = toHex(oids, i * OID_BYTES);
    // A space after the id and no size means that the object is unknown.
    if (size < 0) packets.bare(`${hex} `);
    else packets.bare(wantsSize ? `${hex} ${size}` : hex);
  });
  return packets.flush().toBytes();
}
