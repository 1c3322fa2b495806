import { setTimeout as sleep } from "node:timers/promises";
import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import type { PolicyDTO } from "@resource-broker/contract/testing";
import {
  advertisementBody,
  type BrokerClient,
  type BrokerProcess,
  type BrokerReply,
  type SeededRandom,
  type Size,
} from "@resource-broker/testkit";

/** Enough for a broker to come back, or for another one to take over. */
const MOST_TRIES = 3000;
const RETRY_DELAY_MS = 100;
/** For a policy that believes an advertisement for a short time only: nobody gets notice until a broker has run for so long. */
const STALENESS_MS = 1500;
const ADVERTISE_EVERY_MS = STALENESS_MS / 5;
const NOTHING: Size = { cpu: 0, memoryGi: 0 };

/** Spot reservations give way, in less time than a broker lives. */
export const PREEMPTING_POLICY: PolicyDTO = {
  staleness: `${STALENESS_MS}ms`,
  tenants: { default: { maxPriority: 0 } },
  preemption: { victims: "spot", grace: "300ms", minRun: "0s", maxUnderNotice: "100%" },
};

/** Clusters that only lend and clusters that only borrow: so each provider's books are simple to recount. */
export interface ChaosFleet {
  readonly requesters: readonly BrokerClient[];
  /** Makes every cluster known and fresh. */
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
  const requesterClients = Array.from({ length: requesters }, (_, index) =>
    broker.clientFor(`requester-${index}`, { maxSockets: 2 * lanes }),
  );
  const lenders = Array.from({ length: providers }, (_, index) =>
    advertiser(broker.clientFor(`provider-${index}`), provider),
  );
  // Who only borrows is heard, too: else nobody knows which protocol it speaks.
  const all = [...lenders, ...requesterClients.map((client) => advertiser(client, NOTHING))];
  return {
    requesters: requesterClients,
    advertise: () => Promise.all(all.map((each) => each.advertise())).then(() => undefined),
    drain: async (random) => {
      const lender = random.pick(lenders);
      if (lender === undefined) throw new Error("there is no provider");
      await lender.advertise({ isFull: true });
      return lender.clusterId;
    },
    keepFresh: () => {
      const stopping = new AbortController();
      const ended = advertiseUntil(stopping.signal, all);
      return () => {
        stopping.abort();
        return ended;
      };
    },
  };
}

/** One cluster. What it says arrives in the order in which it says it. */
interface Advertiser {
  readonly clusterId: string;
  /** As an agent would: until it is taken. */
  readonly advertise: (options?: { readonly isFull: boolean }) => Promise<void>;
  /** Says once more what it said last; the broker may be down. */
  readonly repeat: () => Promise<void>;
}

function advertiser(client: BrokerClient, size: Size): Advertiser {
  const { clusterId } = client;
  let body = advertisementBody(clusterId, size);
  let last: Promise<unknown> = Promise.resolve();
  const post = async () => await client.request("POST", PATH.advertisements, { body });
  const inOrder = async <T>(call: () => Promise<T>): Promise<T> => {
    const called = last.then(call);
    last = called.catch(() => undefined);
    return await called;
  };
  return {
    clusterId,
    advertise: ({ isFull } = { isFull: false }) =>
      inOrder(async () => {
        body = isFull ? fullBody(clusterId, size) : advertisementBody(clusterId, size);
        await untilTaken(post, clusterId);
      }),
    repeat: () => inOrder(post).then(() => undefined),
  };
}

async function advertiseUntil(signal: AbortSignal, all: readonly Advertiser[]): Promise<void> {
  const pause = () => sleep(ADVERTISE_EVERY_MS, undefined, { signal }).catch(() => undefined);
  for (await pause(); !signal.aborted; await pause())
    await Promise.allSettled(all.map((each) => each.repeat()));
}

async function untilTaken(post: () => Promise<BrokerReply>, clusterId: string): Promise<void> {
  let problem = "";
  for (let left = MOST_TRIES; left > 0; left--) {
    try {
      const { status } = await post();
      if (status === 200) return;
      problem = String(status);
    } catch (error) {
      problem = String(error);
    }
    await sleep(RETRY_DELAY_MS);
  }
  throw new Error(`${clusterId} cannot advertise: ${problem}`);
}

function fullBody(clusterId: string, provider: Size): AdvertisementDTO {
  const body = advertisementBody(clusterId, provider);
  const { allocatable, allocated: none } = body.resources;
  return { ...body, resources: { ...body.resources, allocated: allocatable, available: none } };
}
