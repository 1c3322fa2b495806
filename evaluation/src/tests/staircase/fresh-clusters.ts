import { advertisementPageSchema, LIMIT, PATH, validate } from "@resource-broker/contract";
import type { BrokerProcess } from "@resource-broker/testkit";
import { INTERVAL_MS } from "./staircase.ts";

/** How many clusters the broker has heard within the last interval and a half: the ones that are really there. */
export async function countFreshClusters(broker: BrokerProcess): Promise<number> {
  const times: number[] = [];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const query = new URLSearchParams({ limit: String(LIMIT.pageMax), ...(after === "" ? {} : { after }) });
    const path = `${PATH.advertisements}?${query.toString()}`;
    const { status, body } = await broker.admin().request("GET", path);
    const page = validate(advertisementPageSchema, body);
    if (!page.ok) throw new Error(`the broker does not show its clusters: ${status}`);
    for (const { standing } of page.value.items) times.push(Date.parse(standing?.receivedAt ?? ""));
    after = page.value.next;
  }
  const newest = times.reduce((most, time) => Math.max(most, time), 0);
  return times.filter((time) => newest - time <= 1.5 * INTERVAL_MS).length;
}
