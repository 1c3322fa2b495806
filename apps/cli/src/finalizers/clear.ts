import { Fault } from "@resource-broker/base";
import { RESERVATION_FINALIZER, type Reservation, reservationKind } from "@resource-broker/contract/crd";
import { customResource } from "@resource-broker/kube";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { nameIn, type ObjectKind } from "../objects/kinds.ts";
import { type OpenCluster, withCluster } from "../objects/open-cluster.ts";
import { listObjects, unknownObject, type Wanted } from "../objects/read-objects.ts";
import { print } from "../output/print.ts";
import { type Column, table } from "../output/table.ts";
import type { CLEAR_OPTIONS } from "./options.ts";
import { runningBroker } from "./running-broker.ts";

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

const RESERVATIONS: ObjectKind<Reservation> = {
  noun: "reservation",
  definition: reservationKind,
  resource: customResource(reservationKind),
};
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

export const clear: Run<typeof CLEAR_OPTIONS> = async ({ options, words }, host) => {
  await withCluster(options, host, async (cluster) => {
    const wanted: Wanted = {
      namespace: options["all-namespaces"] ? undefined : cluster.namespace,
      selector: options.selector,
      name: words[0] === undefined ? undefined : nameIn(words[0], [RESERVATIONS]),
    };
    const held = await heldObjects(cluster, wanted);
    const broker = options.force ? undefined : await runningBroker(cluster, held, host.now());
    if (broker !== undefined && options.yes)
      throw new CommandError("conflict", `${broker}; --force does it all the same`);
    const results: Cleared[] = [];
    for (const each of held) results.push(options.yes ? await cleared(cluster, each) : factsOf(each, false));
    print(
      {
        data: results,
        table: () => table(COLUMNS, results),
        names: () => results.map(({ namespace, name }) => `${namespace}/${name}`),
      },
      options.output,
      host,
    );
    if (broker !== undefined) host.note(`${broker}\n`);
    host.note(summary(results.length, options.yes));
  });
};

async function heldObjects(cluster: OpenCluster, wanted: Wanted): Promise<readonly Reservation[]> {
  const { name, namespace } = wanted;
  const all = await listObjects(cluster, RESERVATIONS, wanted);
  const found = all.filter(({ metadata }) => name === undefined || metadata.name === name);
  if (name !== undefined && found.length === 0)
    throw await unknownObject(cluster, [RESERVATIONS], { name, namespace });
  return found.filter(({ metadata }) => metadata.finalizers?.includes(RESERVATION_FINALIZER) === true);
}

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
