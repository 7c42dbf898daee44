import type { StoredBundle } from "../../contract/fetch.ts";
import { bundleName } from "./bundle-file.ts";
import type { ReadArguments } from "./fetch-arguments.ts";
import { type FetchContext, refusalResponse, unknownRepositoryResponse } from "./fetch-context.ts";
import { PacketText } from "../../base/http/packet-text.ts";
import { resultResponse } from "../../base/http/smart-http.ts";

/** Serves the command `bundle-uri`: lists the URLs of bundles.
 * @see gitprotocol-v2(5) */
export async function handleBundleUri(readArguments: ReadArguments, { source }: FetchContext): Promise<Response> {
  const refusal = await readArguments((line) => `bundle-uri: unexpected argument: '${line}'`);
  if (refusal !== null) return refusalResponse(refusal);
  const bundles = await source.bundles();
  return bundles === null ? unknownRepositoryResponse() : resultResponse("git-upload-pack", encodeBundles(bundles));
}

function encodeBundles(bundles: readonly StoredBundle[]): Uint8Array {
  const packets = new PacketText();
  if (bundles.length === 0) return packets.flush().toBytes();
  packets.bare("bundle.version=1").bare("bundle.mode=all").bare("bundle.heuristic=creationToken");
  for (const bundle of bundles) {
    const id = `bundle.base-${bundle.token}`;
    // Relative to the URL of the request, so that its scheme, host, path and credentials still
    // apply.
    packets.bare(`${id}.uri=./bundles/${bundleName(bundle)}`);
    // In lower case, as git's server writes configuration keys: git's client accepts no other
    // spelling.
    packets.bare(`${id}.creationtoken=${bundle.token}`);
  }
  return packets.flush().toBytes();
}
