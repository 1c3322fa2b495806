import { setTimeout as sleep } from "node:timers/promises";
import { type AdvertisementDTO, advertisementSchema, PATH, validate } from "@resource-broker/contract";
import type { BenchSetup } from "./environment.ts";

/** Each look is a request that broker and bench spend time on: at every 4 ms a start took 100 ms longer. */
const LOOK_EVERY_MS = 10;
const WITHIN_MS = 120_000;

/** What the broker has of the cluster now; undefined: nothing. */
export async function advertised({ broker, clusterId }: BenchSetup): Promise<AdvertisementDTO | undefined> {
  const { status, body } = await broker.admin().request("GET", PATH.advertisement(clusterId));
  if (status === 404) return undefined;
  const reading = validate(advertisementSchema, body);
  if (!reading.ok) throw new Error(`the broker does not show the advertisement: ${status}`);
  return reading.value;
}

/** Looks until the broker has an advertisement as wanted; says how long after `since` that was. */
export async function untilAdvertised(
  setup: BenchSetup,
  since: number,
  isWanted: (advertisement: AdvertisementDTO) => boolean,
): Promise<number> {
  while (performance.now() - since < WITHIN_MS) {
    const now = await advertised(setup);
    if (now !== undefined && isWanted(now)) return performance.now() - since;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`the broker has not heard of it after ${WITHIN_MS / 1000} s`);
}
