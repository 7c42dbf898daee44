/** A Worker beside the tested one, on the same bucket. It tells `server.ts` what is stored: one
 * request reads many objects, while each call through Miniflare's own bindings blocks the test's
 * thread. It is JavaScript because the runtime reads no TypeScript. */

export default {
  /** GET: for each object a line of JSON that describes it, then its bytes. DELETE:
   * deletes them, and returns how many there were.
   * @param request its query is a text that the objects' keys contain */
  async fetch(request, { BUCKET }) {
    const objects = await list(BUCKET, decodeURIComponent(new URL(request.url).search.slice(1)));
    if (request.method === "DELETE") {
      const keys = objects.map(({ key }) => key);
      for (let at = 0; at < keys.length; at += 1_000) await BUCKET.delete(keys.slice(at, at + 1_000));
      return Response.json(keys.length);
    }
    const { readable, writable } = new TransformStream();
    void write(BUCKET, objects, writable.getWriter());
    return new Response(readable);
  },
};

async function list(bucket, text) {
  const objects = [];
  for (let cursor; ;) {
    const page = await bucket.list({ include: ["httpMetadata", "customMetadata"], cursor });
    objects.push(...page.objects.filter(({ key }) => key.includes(text)));
    if (!page.truncated) return objects;
    ({ cursor } = page);
  }
}

async function write(bucket, objects, writer) {
  const encoder = new TextEncoder();
  try {
    for (const { key, httpMetadata, customMetadata } of objects) {
      const object = await bucket.get(key);
      // It has been deleted since it was listed.
      if (object === null) continue;
      const described = {
        key,
        sizeBytes: object.size,
        contentType: httpMetadata?.contentType,
        metadata: customMetadata ?? {},
      };
      await writer.write(encoder.encode(`${JSON.stringify(described)}\n`));
      await writer.write(new Uint8Array(await object.arrayBuffer()));
    }
    await writer.close();
  } catch (error) {
    await writer.abort(error);
  }
}
