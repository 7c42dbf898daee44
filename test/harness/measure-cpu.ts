/** Runs some work and measures the CPU time of this process, regardless of other processes.
 * @returns the result, and milliseconds */
export async function measureCpu<Result>(
  work: () => Result | Promise<Result>,
): Promise<[result: Result, cpuMs: number]> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return [result, (user + system) / 1000];
}
