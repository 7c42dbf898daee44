/** Lets other requests run: the object has one thread, so long work must be done in slices of about
 * 10 ms.
 * @param ms the shortest pause */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
