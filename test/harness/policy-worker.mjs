// A policy that does what the names of refs say; it denies for good what it was told to deny.
export default {
  async fetch(request) {
    const { changes, ...asked } = await request.json();
    const has = (word) => changes.some(({ ref }) => ref.includes(word));
    if (has("throw")) throw new Error("the policy is broken");
    if (has("hang")) await new Promise((resolve) => setTimeout(resolve, 60_000));
    if (has("gone")) return new Response("gone", { status: 502 });
    if (has("garbled")) return Response.json(["yes"]);
    const denied = changes.filter(({ ref, old }) => ref.includes("deny") && !(ref.includes("later") && old === null));
    if (denied.length === 0) return Response.json({ allow: true });
    const refs = Object.fromEntries(denied.map(({ ref }) => [ref, `not ${ref} for ${JSON.stringify(asked)}`]));
    return Response.json({ allow: false, refs });
  },
};
