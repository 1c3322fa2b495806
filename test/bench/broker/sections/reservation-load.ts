import { type BrokerProcess, type ClusterVariety, reservationRequest } from "@resource-broker/testkit";
import type { BenchEnvironment } from "../environment.ts";
import { closedLoop, type LoopResult } from "../load/closed-loop.ts";
import type { Connection } from "../load/connection.ts";
import { advertiseAll, advertiseOn, openFleet } from "../load/fleet.ts";
import { count } from "../measure/percentile.ts";

const PROVIDERS = 1000;

/** Clusters that all lend and all ask, and a count of what they were granted. */
export interface ReservationLoad {
  readonly fleet: readonly Connection[];
  readonly run: (inFlight: number, forMs: number, atMost?: number) => Promise<LoopResult>;
  readonly refresh: () => Promise<void>;
  readonly granted: () => number;
}

export async function openReservationLoad(
  { certificates, report }: BenchEnvironment,
  { port }: BrokerProcess,
  variety?: ClusterVariety,
): Promise<ReservationLoad> {
  report(`connecting and advertising ${count(PROVIDERS)} providers`);
  const begin = (connection: Connection): Promise<void> => advertiseOn(connection, variety);
  const fleet = await openFleet({ port, certificates, prefix: "cluster", from: 0, to: PROVIDERS, begin });
  let keys = 0;
  let granted = 0;
  const request = (): string => reservationRequest(`bench-${keys++}`);
  return {
    fleet,
    run: async (inFlight, forMs, atMost) => {
      const limits = atMost === undefined ? { forMs } : { forMs, atMost };
      const result = await closedLoop({ connections: fleet, inFlight, request, ...limits });
      const made = result.statuses.get(201) ?? 0;
      granted += made;
      if (made !== result.latenciesMs.length)
        throw new Error(`not every reservation was granted: ${JSON.stringify([...result.statuses])}`);
      return result;
    },
    refresh: () => advertiseAll(fleet, variety),
    granted: () => granted,
  };
}
