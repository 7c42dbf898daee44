/** Lets other requests through: the object does one thing at a time, and long work must be taken in slices of some 10 ms.
 * @param ms how long at the least */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
