import { setTimeout as sleep } from "node:timers/promises";
import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import {
  advertisementBody,
  type BrokerClient,
  type BrokerProcess,
  type SeededRandom,
  type Size,
} from "@resource-broker/testkit";

/** Enough for a broker to come back, or for another one to take over. */
const MOST_TRIES = 3000;
const RETRY_DELAY_MS = 100;
/** Far below the two minutes for which an advertisement is believed. */
const ADVERTISE_EVERY_MS = 15_000;

/** Clusters that only lend and clusters that only borrow: so each provider's books are simple to recount. */
export interface ChaosFleet {
  readonly requesters: readonly BrokerClient[];
  /** Makes every provider known and fresh. */
  readonly advertise: () => Promise<void>;
  /** One provider says that its own pods take all it has; resolves when it was answered. Lasts until the next `advertise`. */
  readonly drain: (random: SeededRandom) => Promise<string>;
  /** Does so again and again until what is returned is called: no advertisement is believed for ever. */
  readonly keepFresh: () => () => Promise<void>;
}

export interface ChaosFleetOptions {
  readonly requesters: number;
  readonly providers: number;
  readonly provider: Size;
  readonly lanes: number;
}

export function createFleet(
  broker: Pick<BrokerProcess, "clientFor">,
  { requesters, providers, provider, lanes }: ChaosFleetOptions,
): ChaosFleet {
  const providerClients = Array.from({ length: providers }, (_, index) =>
    broker.clientFor(`provider-${index}`),
  );
  return {
    requesters: Array.from({ length: requesters }, (_, index) =>
      broker.clientFor(`requester-${index}`, { maxSockets: 2 * lanes }),
    ),
    advertise: () =>
      Promise.all(providerClients.map((client) => advertise(client, provider))).then(() => undefined),
    drain: async (random) => {
      const client = random.pick(providerClients);
      if (client === undefined) throw new Error("there is no provider");
      await advertise(client, provider, { isFull: true });
      return client.clusterId;
    },
    keepFresh: () => {
      const stopping = new AbortController();
      const ended = advertiseUntil(stopping.signal, providerClients, provider);
      return () => {
        stopping.abort();
        return ended;
      };
    },
  };
}

/** The broker may be down: then the next one is for when it is back. */
async function advertiseUntil(
  signal: AbortSignal,
  clients: readonly BrokerClient[],
  provider: Size,
): Promise<void> {
  const pause = () => sleep(ADVERTISE_EVERY_MS, undefined, { signal }).catch(() => undefined);
  for (await pause(); !signal.aborted; await pause()) {
    await Promise.allSettled(
      clients.map((client) => {
        const body = advertisementBody(client.clusterId, provider);
        return client.request("POST", PATH.advertisements, { body });
      }),
    );
  }
}

/** As an agent would: until it is taken. */
async function advertise(client: BrokerClient, provider: Size, { isFull = false } = {}): Promise<void> {
  const body = isFull ? fullBody(client.clusterId, provider) : advertisementBody(client.clusterId, provider);
  let problem = "";
  for (let left = MOST_TRIES; left > 0; left--) {
    try {
      const { status } = await client.request("POST", PATH.advertisements, { body });
      if (status === 200) return;
      problem = String(status);
    } catch (error) {
      problem = String(error);
    }
    await sleep(RETRY_DELAY_MS);
  }
  throw new Error(`${client.clusterId} cannot advertise: ${problem}`);
}

function fullBody(clusterId: string, provider: Size): AdvertisementDTO {
  const body = advertisementBody(clusterId, provider);
  const { allocatable, allocated: none } = body.resources;
  return { ...body, resources: { ...body.resources, allocated: allocatable, available: none } };
}
