import { Fault } from "@resource-broker/base";
import { advertisementCall, advertisementPages } from "@resource-broker/client";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type Broker, type Listed, listAll } from "../connection/broker.ts";

/** Every cluster that has advertised, in the order of their IDs. Admins only. */
export function listClusters(broker: Broker): Promise<Listed<AdvertisementDTO>> {
  return listAll(broker, advertisementPages());
}

export async function readCluster(broker: Broker, id: string): Promise<Listed<AdvertisementDTO>> {
  try {
    const { value, at } = await broker.request(advertisementCall(id));
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
