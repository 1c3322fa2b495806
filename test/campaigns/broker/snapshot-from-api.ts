import { parseResources, type ResourceVector } from "@resource-broker/base";
import {
  advertisementPages,
  type CallSender,
  isReserved,
  type PageCall,
  queuePages,
  readAll,
  reservationPages,
  schemaFor,
} from "@resource-broker/client";
import {
  type AdvertisementDTO,
  describeProblems,
  PATH,
  type ReservationDTO,
  type ResourceQuantitiesDTO,
  type Schema,
  validate,
  type WaitingRequestDTO,
} from "@resource-broker/contract";
import { isFinal } from "@resource-broker/domain";
import type { BrokerClient, BrokerReply } from "@resource-broker/testkit";
import type { LedgerReservation, LedgerSnapshot, LedgerWaiting, ProviderTotals } from "./ledger-snapshot.ts";
import { reservationOrWaitingIn } from "./read-reply.ts";
import type { TrackedRequest } from "./tracked-request.ts";

const MOST_TRIES = 100;
const RETRY_DELAY_MS = 100;

/** Reads the broker's ledger over its API. */
export interface ApiReader {
  /** Every requester its own, and the admin all, which must be the same. */
  readonly snapshot: (requests: readonly TrackedRequest[]) => Promise<LedgerSnapshot>;
  /** Only who waits, and what each provider may still lend. */
  readonly queue: () => Promise<Pick<LedgerSnapshot, "waiting" | "providers">>;
}

export function apiReader(admin: BrokerClient, requesters: readonly BrokerClient[]): ApiReader {
  // No list has those that have left the queue, and they stay as they are: each is read once.
  const left = new Map<string, LedgerWaiting>();

  const readLeft = async (requests: readonly TrackedRequest[], known: ReadonlySet<string>): Promise<void> => {
    const missing = requests.filter(({ queued }) => queued !== undefined && !known.has(queued.id));
    for (const { queued, requester } of missing) {
      const client = requesters.find(({ clusterId }) => clusterId === requester);
      if (client === undefined || queued === undefined || left.has(queued.id)) continue;
      const { body } = await getWithRetry(client, PATH.reservation(queued.id));
      const found = reservationOrWaitingIn(body);
      if (found === undefined || isReserved(found) || !isFinal(found.status.phase)) continue;
      left.set(found.id, waitingOf(found));
    }
  };

  return {
    snapshot: async (requests) => {
      const own = await seenByAll(admin, requesters, (role) => reservationPages(role));
      const waiting = await seenByAll(admin, requesters, () => queuePages());
      await readLeft(requests, new Set([...own, ...waiting].map(({ id }) => id)));
      const providers = await readProviders(admin);
      return {
        reservations: own.map(reservationOf),
        waiting: [...waiting.map(waitingOf), ...left.values()],
        providers,
      };
    },
    queue: async () => ({
      waiting: (await readAll(retryingSender(admin), queuePages())).map(waitingOf),
      providers: await readProviders(admin),
    }),
  };
}

async function readProviders(admin: BrokerClient): Promise<ProviderTotals[]> {
  return (await readAll(retryingSender(admin), advertisementPages())).map(totalsOf);
}

async function seenByAll<R, T extends { readonly id: string }>(
  admin: BrokerClient,
  requesters: readonly BrokerClient[],
  pages: (role?: "requester") => PageCall<R, T>,
): Promise<T[]> {
  const list = (client: BrokerClient, role?: "requester") => readAll(retryingSender(client), pages(role));
  let before = "";
  for (;;) {
    const own = (await Promise.all(requesters.map((client) => list(client, "requester")))).flat();
    const [seen, all] = [namesIn(own), namesIn(await list(admin))];
    if (seen === all) return own;
    // A call whose client hung up may have been carried out in between: then the next reading is another one.
    if (seen + all === before) throw new Error(`an admin and the requesters see different ${pages().listed}`);
    before = seen + all;
  }
}

function namesIn(list: readonly { readonly id: string }[]): string {
  return list
    .map(({ id }) => id)
    .sort()
    .join("\n");
}

function retryingSender(client: BrokerClient): CallSender {
  return {
    request: async ({ path, schema }) => {
      const reply = await getWithRetry(client, path);
      return { value: bodyOf(schemaFor(schema, reply.body), reply), headers: reply.headers };
    },
  };
}

/** A client that has just been busy may have used up its share of calls; of several replicas one may be down. */
async function getWithRetry(client: BrokerClient, path: string): Promise<BrokerReply> {
  for (let left = MOST_TRIES; ; left--) {
    const reply = await client.request("GET", path).catch((error: unknown) => {
      if (left === 0) throw error;
    });
    if (reply !== undefined && reply.status !== 429 && reply.status !== 503) return reply;
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS));
  }
}

function bodyOf<T>(schema: Schema<T>, { status, body }: BrokerReply): T {
  if (status !== 200) throw new Error(`unexpected reply: ${status} ${JSON.stringify(body)}`);
  const read = validate(schema, body);
  if (!read.ok) throw new Error(describeProblems(read.problems));
  return read.value;
}

function reservationOf({
  id,
  requesterID,
  targetClusterID,
  status,
  requestedResources,
  key,
  reason,
}: ReservationDTO): LedgerReservation {
  return {
    id,
    requester: requesterID,
    provider: targetClusterID,
    phase: status.phase,
    granted: vectorOf(requestedResources),
    key,
    reason,
  };
}

function waitingOf(found: WaitingRequestDTO): LedgerWaiting {
  const { id, requesterID, status, reason, requestedResources, key, until, endedAt } = found;
  return {
    id,
    requester: requesterID,
    phase: status.phase,
    reason,
    asked: vectorOf(requestedResources),
    key,
    until: Date.parse(until),
    endedAt: endedAt === undefined ? undefined : Date.parse(endedAt),
    nominatedTo: found.queue?.nominatedTo,
  };
}

function totalsOf({ clusterID, resources }: AdvertisementDTO): ProviderTotals {
  const { allocatable, available, reserved = { cpu: "0", memory: "0" } } = resources;
  return {
    clusterId: clusterID,
    allocatable: vectorOf(allocatable),
    reserved: vectorOf(reserved),
    available: vectorOf(available),
  };
}

function vectorOf(quantities: ResourceQuantitiesDTO): ResourceVector {
  const read = parseResources(quantities, "up");
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.resources;
}
