import { parseResources, type ResourceVector } from "@resource-broker/base";
import { type Store, sqliteStore, verifyLedger } from "@resource-broker/broker";
import {
  CHAIN_START,
  canonical,
  kubernetesStore,
  nextLink,
  postgresStore,
  readAddress,
} from "@resource-broker/broker/testing";
import {
  advertisementPages,
  type CallSender,
  readAll,
  reservationPages,
  schemaFor,
} from "@resource-broker/client";
import {
  describeProblems,
  type ReservationDTO,
  type ResourceQuantitiesDTO,
  type Schema,
  validate,
} from "@resource-broker/contract";
import { type LedgerRecords, ledgerFrom } from "@resource-broker/domain";
import { recordsOf } from "@resource-broker/domain/testing";
import {
  type BrokerClient,
  type BrokerReply,
  kubeClientFor,
  MACHINE_CLOCK,
  NO_LOG,
} from "@resource-broker/testkit";
import type { LedgerReservation, LedgerSnapshot } from "./ledger-snapshot.ts";

/** The name under which a shared store is opened. */
const AUDITOR = "auditor";

/** Reads the broker's books over its API: every requester its own, and the admin all, which must be the same. */
export async function snapshotFromApi(
  admin: BrokerClient,
  requesters: readonly BrokerClient[],
): Promise<LedgerSnapshot> {
  const own = await seenByAll(admin, requesters);
  const advertisements = await readAll(retryingSender(admin), advertisementPages());
  return {
    reservations: own.map(reservationOf),
    providers: advertisements.map(({ clusterID, resources: { allocatable, reserved } }) => ({
      clusterId: clusterID,
      allocatable: vectorOf(allocatable),
      reserved: vectorOf(reserved ?? { cpu: "0", memory: "0" }),
    })),
  };
}

/** Reads the same from the file of a broker that is not running. */
export async function snapshotFromSqlite(directory: string): Promise<LedgerSnapshot> {
  const { problems } = verifyLedger(directory);
  if (problems.length > 0) throw new Error(`the ledger is damaged: ${problems.join("; ")}`);
  return snapshotIn(sqliteStore({ directory }));
}

/** Reads the same from the database of replicas that are not running; the audit log must be one chain. */
export async function snapshotFromPostgres(url: string): Promise<LedgerSnapshot> {
  const reading = readAddress(url);
  if (!reading.ok) throw new Error(reading.problem);
  const { address } = reading;
  return snapshotIn(postgresStore({ address, replica: AUDITOR }, { clock: MACHINE_CLOCK, log: NO_LOG }));
}

/** Reads the same from the objects of replicas that are not running. */
export async function snapshotFromKubernetes(kubeconfig: string, namespace: string): Promise<LedgerSnapshot> {
  const client = kubeClientFor(kubeconfig);
  const store = kubernetesStore(
    { replica: AUDITOR },
    {
      clock: MACHINE_CLOCK,
      log: NO_LOG,
      cluster: () => Promise.resolve({ client, namespace }),
    },
  );
  // The last one may have been ended before it could give the lease back.
  await store.leadership.acquire();
  try {
    return await snapshotIn(store);
  } finally {
    client.close();
  }
}

async function snapshotIn(store: Store): Promise<LedgerSnapshot> {
  const { records } = await store.open();
  try {
    await checkChain(store);
    return snapshotOf(records);
  } finally {
    await store.close();
  }
}

async function checkChain(store: Pick<Store, "readAudit">): Promise<void> {
  let link = CHAIN_START;
  for (;;) {
    const lines = await store.readAudit({ after: link.sequence, limit: 5000 });
    for (const { sequence, hash, ...line } of lines) {
      link = nextLink(link, canonical(line));
      if (link.sequence !== sequence || link.hash !== hash)
        throw new Error(`audit line ${link.sequence} does not fit the one before it`);
    }
    if (lines.length === 0) return;
  }
}

function snapshotOf(records: LedgerRecords): LedgerSnapshot {
  const ledger = ledgerFrom(records, records.time);
  const rebuilt = recordsOf(ledger);
  if (rebuilt.reservations.length !== records.reservations.length)
    throw new Error("a reservation is there twice");
  return {
    reservations: rebuilt.reservations.map(({ id, requester, provider, phase, granted, key }) => ({
      id,
      requester,
      provider,
      phase,
      granted,
      key,
    })),
    providers: [...ledger.accounts.values()].flatMap(({ clusterId, advertisement, reserved }) =>
      advertisement === undefined ? [] : [{ clusterId, allocatable: advertisement.allocatable, reserved }],
    ),
  };
}

async function seenByAll(
  admin: BrokerClient,
  requesters: readonly BrokerClient[],
): Promise<ReservationDTO[]> {
  let before = "";
  for (;;) {
    const own = (await Promise.all(requesters.map((client) => listAll(client, "requester")))).flat();
    const [seen, all] = [namesIn(own), namesIn(await listAll(admin))];
    if (seen === all) return own;
    // A call whose client hung up may have been carried out in between: then the next reading is another one.
    if (seen + all === before) throw new Error("an admin and the requesters see different reservations");
    before = seen + all;
  }
}

function namesIn(list: readonly ReservationDTO[]): string {
  return list
    .map(({ id }) => id)
    .sort()
    .join("\n");
}

function listAll(client: BrokerClient, role?: "requester"): Promise<readonly ReservationDTO[]> {
  return readAll(retryingSender(client), reservationPages(role));
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

const MOST_TRIES = 100;
const RETRY_DELAY_MS = 100;

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
}: ReservationDTO): LedgerReservation {
  return {
    id,
    requester: requesterID,
    provider: targetClusterID,
    phase: status.phase,
    granted: vectorOf(requestedResources),
    key,
  };
}

function vectorOf(quantities: ResourceQuantitiesDTO): ResourceVector {
  const read = parseResources(quantities, "up");
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.resources;
}
