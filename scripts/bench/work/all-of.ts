/** Waits for all, so that none goes on after this when another fails.
 * @throws what the first of them in order failed with */
export async function allOf<Value>(works: readonly Promise<Value>[]): Promise<Value[]> {
  const ends = await Promise.allSettled(works);
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}
