import { advertisementPages, readAll } from "@resource-broker/client";
import type { BrokerProcess } from "@resource-broker/testkit";
import { INTERVAL_MS } from "./staircase.ts";

/** How many clusters the broker has heard within the last interval and a half: the ones that are really there. */
export async function countFreshClusters(broker: BrokerProcess): Promise<number> {
  const advertisements = await readAll(broker.api(), advertisementPages());
  const times = advertisements.map(({ standing }) => Date.parse(standing?.receivedAt ?? ""));
  const newest = times.reduce((most, time) => Math.max(most, time), 0);
  return times.filter((time) => newest - time <= 1.5 * INTERVAL_MS).length;
}
