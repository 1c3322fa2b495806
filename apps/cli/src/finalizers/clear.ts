import {
  type OpenCluster,
  readWanted,
  RESERVATIONS,
  wantedIn,
  withCluster,
} from "../objects/open-cluster.ts";
import { Fault } from "@resource-broker/base";
import { BROKER_LEASE, type Reservation, RESERVATION_FINALIZER } from "@resource-broker/contract/crd";
import { LEASES } from "@resource-broker/kube";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type Column, table } from "../output/print.ts";
import { distance } from "../output/text.ts";
import type { CLEAR_OPTIONS } from "../commands/cluster-options.ts";

/** What became of one Reservation. The shape of `-o json`. */
interface Cleared {
  readonly namespace: string;
  readonly name: string;
  readonly requesterID: string | null;
  readonly targetClusterID: string | null;
  readonly phase: string | null;
  /** True: somebody has deleted it, and only the finalizer keeps it. */
  readonly deleting: boolean;
  /** True: the finalizer is off. */
  readonly cleared: boolean;
}

const TRIES = 5;

const COLUMNS: readonly Column<Cleared>[] = [
  { title: "NAMESPACE", value: ({ namespace }) => namespace },
  { title: "NAME", value: ({ name }) => name },
  { title: "REQUESTER", value: ({ requesterID }) => requesterID ?? "-" },
  { title: "TARGET", value: ({ targetClusterID }) => targetClusterID ?? "-" },
  { title: "PHASE", value: ({ phase }) => phase ?? "-" },
  { title: "DELETED", value: ({ deleting }) => (deleting ? "yes" : "no") },
  { title: "FINALIZER", value: ({ cleared }) => (cleared ? "cleared" : "there") },
];

export const clear: Run<typeof CLEAR_OPTIONS> = (input, host) =>
  withCluster(input.options, host, async (cluster) => {
    const { options } = input;
    const wanted = wantedIn(cluster, input, [RESERVATIONS]);
    const held = (await readWanted(cluster, [RESERVATIONS], wanted)).filter(
      ({ metadata }) => metadata.finalizers?.includes(RESERVATION_FINALIZER) === true,
    );
    const broker = options.force ? undefined : await runningBroker(cluster, held, host.now());
    if (broker !== undefined && options.yes)
      throw new CommandError("conflict", `${broker}; --force does it all the same`);
    const results: Cleared[] = [];
    for (const each of held) results.push(options.yes ? await cleared(cluster, each) : factsOf(each, false));
    if (broker !== undefined) host.note(`${broker}\n`);
    host.note(summary(results.length, options.yes));
    return {
      data: results,
      table: () => table(COLUMNS, results),
      names: results.map(({ namespace, name }) => `${namespace}/${name}`),
    };
  });

/** On a conflict the object is read again and the patch is repeated. Other finalizers stay. */
async function cleared({ client }: OpenCluster, first: Reservation): Promise<Cleared> {
  const { name, namespace = "default" } = first.metadata;
  let current: Reservation | undefined = first;
  for (let tries = 1; current !== undefined; tries += 1) {
    const { resourceVersion, finalizers = [] } = current.metadata;
    const others = finalizers.filter((each) => each !== RESERVATION_FINALIZER);
    const body = { metadata: { resourceVersion, finalizers: others } };
    try {
      await client.patch(RESERVATIONS.resource, {
        name: { name, namespace },
        patch: { kind: "merge", body },
      });
      break;
    } catch (error) {
      if (!isOvertaken(error) || tries >= TRIES) throw error;
      current = await client.find(RESERVATIONS.resource, { name, namespace });
    }
  }
  return factsOf(first, true);
}

function isOvertaken(error: unknown): boolean {
  return error instanceof Fault && (error.code === "conflict" || error.code === "not-found");
}

function factsOf({ metadata, spec, status }: Reservation, isCleared: boolean): Cleared {
  return {
    namespace: metadata.namespace ?? "default",
    name: metadata.name,
    requesterID: spec.requesterID ?? null,
    targetClusterID: spec.targetClusterID ?? null,
    phase: status?.phase ?? null,
    deleting: metadata.deletionTimestamp !== undefined,
    cleared: isCleared,
  };
}

function summary(count: number, isDone: boolean): string {
  if (count === 0) return "No Reservation has the broker's finalizer here.\n";
  const these = count === 1 ? "1 Reservation" : `${count} Reservations`;
  return isDone
    ? `The finalizer is off ${these}.\n`
    : `Nothing was changed. Take the finalizer off ${these}: the same with --yes\n`;
}

/** A broker that renewed its lease in one of the objects' namespaces, in words; undefined when none did in time. */
export async function runningBroker(
  { client }: OpenCluster,
  objects: readonly Reservation[],
  now: number,
): Promise<string | undefined> {
  const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace ?? "default"));
  for (const namespace of namespaces) {
    const lease = await client.find(LEASES, { name: BROKER_LEASE, namespace });
    const { renewTime = "", leaseDurationSeconds = 0, holderIdentity = "" } = lease?.spec ?? {};
    const renewedAt = Date.parse(renewTime);
    if (holderIdentity === "" || !(renewedAt + leaseDurationSeconds * 1000 > now)) continue;
    return `a broker runs in namespace ${namespace} (${holderIdentity}, seen ${distance(renewedAt, now)}): it releases and frees what is deleted`;
  }
  return undefined;
}
