/** Lets other requests run: the object has one thread, so long work must be done in slices of about
 * 10 ms.
 * @param ms the shortest pause; 0: others run, and the work goes on at once. A timer would wait a
 * millisecond even if nobody is there */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) setImmediate(resolve);
    else setTimeout(resolve, ms);
  });
}
