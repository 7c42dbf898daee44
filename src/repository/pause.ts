/** Lets other requests through: the object does one thing at a time, and long work must be taken in slices of some 10 ms. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
