import { setTimeout as sleep } from "node:timers/promises";
import { PATH } from "@resource-broker/contract";
import {
  advertisementBody,
  type BrokerClient,
  type BrokerProcess,
  type Size,
} from "@resource-broker/testkit";

/** Enough for a broker to come back, or for another one to take over. */
const MOST_TRIES = 200;
const BETWEEN_TRIES_MS = 100;

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
  broker: Pick<BrokerProcess, "clientFor">,
  { requesters, providers, provider, lanes }: SceneOptions,
): Scene {
  const lending = Array.from({ length: providers }, (_, index) => broker.clientFor(`provider-${index}`));
  return {
    requesters: Array.from({ length: requesters }, (_, index) =>
      broker.clientFor(`requester-${index}`, { maxSockets: 2 * lanes }),
    ),
    advertise: () => Promise.all(lending.map((client) => advertise(client, provider))).then(() => undefined),
  };
}

/** As an agent would: until it is taken. */
async function advertise(client: BrokerClient, provider: Size): Promise<void> {
  const body = advertisementBody(client.clusterId, provider);
  let problem = "";
  for (let left = MOST_TRIES; left > 0; left--) {
    try {
      const { status } = await client.request("POST", PATH.advertisements, { body });
      if (status === 200) return;
      problem = String(status);
    } catch (error) {
      problem = String(error);
    }
    await sleep(BETWEEN_TRIES_MS);
  }
  throw new Error(`${client.clusterId} cannot advertise: ${problem}`);
}
