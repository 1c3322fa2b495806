import { PATH } from "@resource-broker/contract";
import {
  advertisementBody,
  type BrokerClient,
  type BrokerProcess,
  type Size,
} from "@resource-broker/testkit";

/** Clusters that only lend and clusters that only borrow: so each provider's books are simple to recount. */
export interface Scene {
  readonly requesters: readonly BrokerClient[];
  /** Makes every provider known and fresh. */
  readonly advertise: () => Promise<void>;
}

export interface SceneOptions {
  readonly requesters: number;
  readonly providers: number;
  readonly provider: Size;
  readonly lanes: number;
}

export function sceneOn(
  broker: BrokerProcess,
  { requesters, providers, provider, lanes }: SceneOptions,
): Scene {
  const lending = Array.from({ length: providers }, (_, index) => broker.clientFor(`provider-${index}`));
  return {
    requesters: Array.from({ length: requesters }, (_, index) =>
      broker.clientFor(`requester-${index}`, { maxSockets: 2 * lanes }),
    ),
    advertise: async () => {
      for (const client of lending) {
        const body = advertisementBody(client.clusterId, provider);
        const { status } = await client.request("POST", PATH.advertisements, { body });
        if (status !== 200) throw new Error(`${client.clusterId} cannot advertise: ${status}`);
      }
    },
  };
}
