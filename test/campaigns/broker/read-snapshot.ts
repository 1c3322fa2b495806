import { type Store, sqliteStore, verifyLedger } from "@resource-broker/broker";
import {
  CHAIN_START,
  canonical,
  kubernetesStore,
  nextLink,
  postgresStore,
  readAddress,
} from "@resource-broker/broker/testing";
import { isLive, type LedgerRecords, ledgerFrom, type Reservation } from "@resource-broker/domain";
import { recordsOf } from "@resource-broker/domain/testing";
import { kubeClientFor, MACHINE_CLOCK, NO_LOG } from "@resource-broker/testkit";
import type { LedgerSnapshot } from "./ledger-snapshot.ts";

/** The name under which a shared store is opened. */
const AUDITOR = "auditor";

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
  if (rebuilt.waiting.length !== records.waiting.length) throw new Error("a waiting request is there twice");
  checkNotices(rebuilt);
  return {
    reservations: rebuilt.reservations.map(({ id, requester, provider, phase, granted, key, reason }) => ({
      id,
      requester,
      provider,
      phase,
      granted,
      key,
      reason,
    })),
    waiting: rebuilt.waiting.map(
      ({ id, requester, phase, reason, request, key, until, endedAt, nominated }) => ({
        id,
        requester,
        phase,
        reason,
        asked: request.resources,
        key,
        until,
        endedAt,
        nominatedTo: nominated?.provider,
      }),
    ),
    providers: [...ledger.accounts.values()].flatMap(({ clusterId, advertisement, reserved, available }) =>
      advertisement === undefined
        ? []
        : [{ clusterId, allocatable: advertisement.allocatable, reserved, available }],
    ),
  };
}

function checkNotices({ reservations, waiting }: LedgerRecords): void {
  const victims = new Map(waiting.map(({ id, nominated }) => [id, nominated?.victims ?? []]));
  for (const reservation of reservations) {
    const { id, phase, preemption } = reservation;
    if (isTooEarly(reservation)) throw new Error(`${id} was preempted before the end of its notice`);
    if (!isLive(phase) || preemption?.by === undefined) continue;
    if (victims.get(preemption.by)?.includes(id) !== true)
      throw new Error(`${id} is under notice for ${preemption.by}, which does not need it`);
  }
}

/** Preempted before the end of its notice, or without one. */
function isTooEarly({ reason, endedAt = 0, preemption }: Reservation): boolean {
  return reason === "Preempted" && endedAt < (preemption?.at ?? Number.POSITIVE_INFINITY);
}
