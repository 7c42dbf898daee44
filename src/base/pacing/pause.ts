/** Lets other requests run: the object has one thread, so long work must be done in slices of about
 * 10 ms.
 * @param ms the shortest pause; 0: others run, and the work goes on. A timer of 0 ms takes some 4
 * ms after a slice */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) setImmediate(resolve);
    else setTimeout(resolve, ms);
  });
}
