import { Fault } from "@resource-broker/base";
import {
  type AdvertisementDTO,
  advertisementPageSchema,
  advertisementSchema,
  LIMIT,
  PATH,
} from "@resource-broker/contract";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Broker } from "../connection/broker.ts";
import { checkEnds } from "../connection/check-ends.ts";

export interface Clusters {
  readonly items: readonly AdvertisementDTO[];
  /** The broker's time. */
  readonly at: number;
}

/** Every cluster that has advertised, in the order of their IDs. Admins only. */
export async function listClusters(broker: Broker): Promise<Clusters> {
  const items: AdvertisementDTO[] = [];
  let after = "";
  for (;;) {
    const query = new URLSearchParams({ limit: String(LIMIT.pageMax), after });
    const path = `${PATH.advertisements}?${query.toString()}`;
    const { value, at } = await broker.request({ method: "GET", path }, advertisementPageSchema);
    items.push(...value.items);
    if (value.next === undefined) return { items, at };
    checkEnds(items.length, value.next > after);
    after = value.next;
  }
}

export async function readCluster(broker: Broker, id: string): Promise<Clusters> {
  try {
    const { value, at } = await broker.request(
      { method: "GET", path: PATH.advertisement(id) },
      advertisementSchema,
    );
    return { items: [value], at };
  } catch (error) {
    if (error instanceof Fault && error.code === "not-found") throw await unknownCluster(broker, id, error);
    throw error;
  }
}

/** Admins are told which name they may have meant; others may not know the names. */
export async function unknownCluster(broker: Broker, id: string, cause: Fault): Promise<CommandError> {
  const { items } = await listClusters(broker).catch(() => ({ items: [] }));
  const hint = await didYouMean(
    id,
    items.map(({ clusterID }) => clusterID),
  );
  return new CommandError("error", `no cluster ${JSON.stringify(id)} has advertised here${hint}`, { cause });
}
