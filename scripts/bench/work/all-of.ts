/** Waits for all promises, so that none is still running when the caller gets an error.
 * @throws the error of the first of them, in order, that failed */
export async function allOf<Value>(works: readonly Promise<Value>[]): Promise<Value[]> {
  const ends = await Promise.allSettled(works);
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}
