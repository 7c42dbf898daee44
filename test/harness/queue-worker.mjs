// The consumer of the deployment's queue: passes each event on to a receiver. What that does not
// take comes again.
export default {
  async queue({ messages }, { RECEIVER }) {
    for (const message of messages) {
      const { ok } = await fetch(RECEIVER, { method: "POST", body: JSON.stringify(message.body) });
      if (ok) message.ack();
      else message.retry();
    }
  },
};
