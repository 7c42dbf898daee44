/** Does something, and measures the CPU of this process meanwhile: what else the machine does is not in it.
 * @returns what came of it, and milliseconds */
export async function measureCpu<Result>(
  work: () => Result | Promise<Result>,
): Promise<[result: Result, cpuMs: number]> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return [result, (user + system) / 1000];
}
