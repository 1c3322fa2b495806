import type { BrokerProcess } from "@resource-broker/testkit";
import type { Connection } from "../../measure/load/connection.ts";
import { type OnCleanup, withCleanup } from "../../measure/with-cleanup.ts";
import { advertisementFor, requestFor } from "../subject/bodies.ts";
import { advertise, NO_ANSWER, reserve } from "../subject/calls.ts";
import { grantedIds } from "../subject/fill.ts";
import { listReservations } from "../subject/list-reservations.ts";
import { connectAll, type Subject } from "../subject/subject.ts";
import { compareWithAcknowledged, type Recovery } from "./results.ts";

const PROVIDER_SIZE = { cpuMillis: 4_000_000, memoryMi: 4_000_000 };
export const SMALL = { cpuMillis: 500, memoryMi: 256 };

/** Clusters that have connected and advertised. */
export function openClusters(subject: Subject, count: number, onCleanup: OnCleanup): Promise<Connection[]> {
  const begin = (each: Connection): Promise<void> =>
    advertise(each, advertisementFor(each.clusterId, PROVIDER_SIZE));
  return connectAll(subject, subject.identities(count), { later: onCleanup, begin });
}

interface KillOptions {
  readonly subject: Subject;
  readonly broker: BrokerProcess;
  /** Requests on their way when it is killed. */
  readonly inFlight: number;
  readonly acknowledged: Set<string>;
  readonly name: string;
}

/** Kills the broker in the middle of its work, starts it again and counts. */
export async function killOnce({
  subject,
  broker,
  inFlight,
  acknowledged,
  name,
}: KillOptions): Promise<Recovery> {
  const unanswered = await withCleanup(async (onCleanup) => {
    const connections = await openClusters(subject, inFlight, onCleanup);
    const sent = connections.map((connection, at) => reserve(connection, requestFor(SMALL), `${name}-${at}`));
    await Promise.any(sent);
    await broker.kill("SIGKILL");
    const answers = await Promise.all(sent);
    for (const id of grantedIds(answers)) acknowledged.add(id);
    return answers.filter(({ status }) => status === NO_ANSWER).length;
  });
  const before = acknowledged.size;
  const startedAt = performance.now();
  const { readyAfterMs } = await broker.restart();
  const firstGrantMs = await withCleanup(async (onCleanup) => {
    const [provider, requester] = await connectAll(subject, subject.identities(2), { later: onCleanup });
    if (provider === undefined || requester === undefined) throw new Error("two clusters are needed");
    // As its agent does when it has lost the broker: what was advertised in the last second may be gone.
    await advertise(provider, advertisementFor(provider.clusterId, PROVIDER_SIZE));
    const { status, id } = await reserve(requester, requestFor(SMALL), `${name}-first`);
    if (status !== 201 || id === undefined) throw new Error(`no reservation after the restart: ${status}`);
    acknowledged.add(id);
    return performance.now() - startedAt;
  });
  const listed = (await listReservations(broker)).map(({ id }) => id);
  const counted = compareWithAcknowledged(acknowledged, listed, unanswered);
  // What had been on its way and is there is known from now on.
  for (const id of listed) acknowledged.add(id);
  return { reservations: before, readyMs: readyAfterMs, firstGrantMs, unanswered, ...counted };
}
