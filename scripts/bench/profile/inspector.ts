/** Takes CPU profiles of all isolates.
 * @see https://chromedevtools.github.io/devtools-protocol/tot/Profiler/ */
import { Inspector, listTargets, type Target } from "../../../test/harness/inspector.ts";
import type { CpuProfile } from "./cpu-profile.ts";

/** A profile of each isolate, by the isolate's name. */
export type IsolateProfiles = ReadonlyMap<string, CpuProfile>;

/** Profiles the isolates behind an inspector.
 * @param intervalMicros between two samples
 * @returns stops profiling and gives the profiles
 * @throws Error if the inspector does not answer */
export async function startProfiling(port: number, intervalMicros: number): Promise<() => Promise<IsolateProfiles>> {
  const targets = await listTargets(port);
  const connect = async ({ id, webSocketDebuggerUrl }: Target): Promise<[string, Inspector]> => [
    id,
    await Inspector.connect(webSocketDebuggerUrl),
  ];
  const inspectors = await Promise.all(targets.map(connect));
  for (const [, inspector] of inspectors) {
    await inspector.call("Profiler.enable");
    await inspector.call("Profiler.setSamplingInterval", { interval: intervalMicros });
    await inspector.call("Profiler.start");
  }
  return async () => {
    const profiles = new Map<string, CpuProfile>();
    for (const [isolate, inspector] of inspectors) {
      const { profile } = (await inspector.call("Profiler.stop")) as { profile: CpuProfile };
      profiles.set(isolate, profile);
      inspector.close();
    }
    return profiles;
  };
}
