import type { SeededRandom } from "@resource-broker/testkit";
import type { HarmedServer } from "./servers.ts";

export const HARMS = ["kill", "pause", "cut"] as const;
export type Harm = (typeof HARMS)[number];

/** How long it lasts. Some pauses are longer than any call waits for its answer. */
const LONGEST_MS: Readonly<Record<Harm, number>> = { kill: 2_000, pause: 10_000, cut: 4_000 };

export function lastsMs(harm: Harm, random: SeededRandom): number {
  return random.between(100, LONGEST_MS[harm]);
}

/** Harms a server. What is returned mends it, and resolves when it serves again. */
export async function begin(harm: Harm, server: HarmedServer): Promise<() => Promise<unknown>> {
  switch (harm) {
    case "kill":
      await server.kill();
      return server.restart;
    case "pause":
      server.pause();
      return async () => server.resume();
    case "cut":
      server.proxy.refuse();
      server.proxy.cut();
      return async () => server.proxy.admit();
  }
}
