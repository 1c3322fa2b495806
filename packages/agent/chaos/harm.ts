import type { SeededRandom } from "@resource-broker/testkit";
import type { FaultyServer } from "./servers.ts";

export const SERVER_FAULTS = ["kill", "pause", "cut"] as const;
export type ServerFault = (typeof SERVER_FAULTS)[number];

/** How long it lasts. Some pauses are longer than any call waits for its answer. */
const LONGEST_MS: Readonly<Record<ServerFault, number>> = { kill: 2_000, pause: 10_000, cut: 4_000 };

export function lastsMs(fault: ServerFault, random: SeededRandom): number {
  return random.between(100, LONGEST_MS[fault]);
}

/** Harms a server. What is returned mends it, and resolves when it serves again. */
export async function injectFault(fault: ServerFault, server: FaultyServer): Promise<() => Promise<unknown>> {
  switch (fault) {
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
