// A policy that does what the names of refs say: the first of these words decides. With `later` it
// lets them be created, with `shown` it waits until it sees the commits.
const ACTIONS = {
  throw: () => {
    throw new Error("the policy is broken");
  },
  hang: () => new Promise((resolve) => setTimeout(resolve, 60_000)),
  gone: () => new Response("gone", { status: 502 }),
  garbled: () => Response.json(["yes"]),
};

export default {
  async fetch(request) {
    const { changes, ...asked } = await request.json();
    const isDue = ({ ref, old }) =>
      !(ref.includes("later") && old === null) && !(ref.includes("shown") && asked.stage === "names");
    const due = changes.filter(isDue);
    for (const [word, act] of Object.entries(ACTIONS)) if (due.some(({ ref }) => ref.includes(word))) return act();
    const denied = due.filter(({ ref }) => ref.includes("deny"));
    if (denied.length === 0) return Response.json({ allow: true });
    const refs = Object.fromEntries(denied.map(({ ref }) => [ref, `not ${ref} for ${JSON.stringify(asked)}`]));
    return Response.json({ allow: false, refs });
  },
};
