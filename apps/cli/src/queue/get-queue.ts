import { type ReservationOrWaiting, tenantPages } from "@resource-broker/client";
import type { TenantDTO, WaitingRequestDTO } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type { Host, Run, Values } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { readCluster } from "../clusters/cluster-view.ts";
import type {
  GET_QUEUE_OPTIONS,
  GET_REQUESTS_OPTIONS,
  GET_TENANTS_OPTIONS,
} from "../commands/queue-options.ts";
import { type Broker, listAll, type Listed, withBroker } from "../connection/broker.ts";
import { printListing } from "../output/listing.ts";
import { type Column, stylerFor, wide } from "../output/print.ts";
import { agoOf, described, one } from "../output/text.ts";
import { listReservations } from "../reservations/reservation.ts";
import { demandColumns, listWaiting, waitingColumns } from "./waiting.ts";

export const getQueue: Run<typeof GET_QUEUE_OPTIONS> = ({ options }, host) => {
  const { requester } = options;
  return withBroker(options, host, async (broker) => {
    const read = async () => {
      const { items, at } = await listWaiting(broker, requester);
      return {
        items,
        dataOf: (item: WaitingRequestDTO) => item,
        nameOf: ({ id }: WaitingRequestDTO) => id,
        fingerprintOf: (item: WaitingRequestDTO) => JSON.stringify(item),
        columns: waitingColumns(at, stylerFor(host)),
        ...(items.length === 0 ? { whenEmpty: await whenNothingWaits(broker, requester) } : {}),
      };
    };
    return printListing(read, options, host);
  });
};

/** Throws where an admin names a cluster that is not there. */
async function whenNothingWaits(broker: Broker, requester: string | undefined): Promise<string> {
  const { isAdmin, name } = broker.credentials;
  if (requester === undefined) return isAdmin ? "No request waits." : `No request of ${name} waits.`;
  if (isAdmin) await readCluster(broker, requester);
  return isAdmin || requester === name
    ? `No request of ${requester} waits.`
    : `${name} sees its own requests only; an admin sees those of ${requester}.`;
}

/** Of `get requests --all-clusters`. */
export async function getDemand(
  { options, words }: Parameters<Run<typeof GET_REQUESTS_OPTIONS>>[0],
  host: Host,
): Promise<undefined> {
  refuseClusterOptions(options, words);
  return withBroker(options, host, async (broker) => {
    const { name, isAdmin } = broker.credentials;
    if (!isAdmin) {
      throw new CommandError(
        "auth",
        `${name} is no admin, and may not see the requests of other clusters. Its own: brokerctl get queue, and brokerctl get reservations --requester ${name}`,
      );
    }
    const read = async () => {
      const { items, at } = await readDemand(broker);
      return {
        items,
        dataOf: (item: ReservationOrWaiting) => item,
        nameOf: ({ id }: ReservationOrWaiting) => id,
        fingerprintOf: (item: ReservationOrWaiting) => JSON.stringify(item),
        columns: demandColumns(at, stylerFor(host)),
        whenEmpty: "No cluster waits for anything or holds anything.",
      };
    };
    return printListing(read, options, host);
  });
}

/** What only a cluster's API server understands. */
function refuseClusterOptions(options: Values<typeof GET_REQUESTS_OPTIONS>, [name]: readonly string[]): void {
  const { namespace, selector, kubeconfig } = options;
  const given = Object.entries({
    "--namespace": namespace,
    "--selector": selector,
    "--kubeconfig": kubeconfig,
  });
  const [wrong] = given.find(([, value]) => value !== undefined) ?? [];
  const what = wrong ?? name;
  if (what === undefined) return;
  const message = `--all-clusters lists what the broker knows, which has no ${wrong === undefined ? "names of ResourceRequests" : "such option"}: leave ${what} out`;
  throw new CommandError("usage", message);
}

/** All that waits, in the order of the queue, then all that is held. */
async function readDemand(broker: Broker): Promise<Listed<ReservationOrWaiting>> {
  const waiting = await listWaiting(broker);
  const { items, at } = await listReservations(broker);
  // One that was granted between the two answers is in both.
  const granted = new Set(items.map(({ id }) => id));
  const pending = waiting.items.filter(({ id }) => !granted.has(id));
  return { items: [...pending, ...items.filter(({ status }) => isLive(status.phase))], at };
}

export const getTenants: Run<typeof GET_TENANTS_OPTIONS> = ({ options }, host) =>
  withBroker(options, host, async (broker) => {
    const read = async () => {
      const { items, at } = await listAll(broker, tenantPages());
      return {
        items,
        dataOf: (tenant: TenantDTO) => tenant,
        nameOf: ({ name }: TenantDTO) => name,
        fingerprintOf: (tenant: TenantDTO) => JSON.stringify(tenant),
        columns: tenantColumns(at),
        whenEmpty: "The policy names no tenant, and no cluster holds anything or waits. See docs/policy.md.",
      };
    };
    return printListing(read, options, host);
  });

function tenantColumns(now: number): readonly Column<TenantDTO>[] {
  return [
    { title: "NAME", value: ({ name }) => name },
    { title: "IN POLICY", value: ({ inPolicy }) => (inPolicy ? "yes" : "no") },
    { title: "WEIGHT", value: ({ weight }) => String(weight) },
    { title: "SHARE", value: ({ share }) => String(share) },
    { title: "CPU", value: ({ holds }) => one("cpu", holds) },
    { title: "MEMORY", value: ({ holds }) => one("memory", holds) },
    { title: "GPU", value: ({ holds }) => one("gpu", holds) },
    { title: "QUOTA", value: quotaText },
    { title: "SPENT TODAY", value: spentText },
    { title: "WAITING", value: ({ waiting }) => String(waiting) },
    { title: "OLDEST", value: ({ waitingSince }) => agoOf(waitingSince, now) },
    ...wide<TenantDTO>(
      { title: "RESERVATIONS", value: ({ reservations }) => String(reservations) },
      { title: "MAX PRIORITY", value: ({ maxPriority }) => maxPriority?.toString() ?? "-" },
    ),
  ];
}

/** `12.5 of 50 EUR`: what its reservations are charged for today (UTC), and what they may. */
function spentText({ committedToday, budgetPerDay, currency }: TenantDTO): string {
  if (budgetPerDay !== undefined) return `${committedToday} of ${budgetPerDay} ${currency}`;
  return Number(committedToday) === 0 ? "-" : `${committedToday} ${currency}`;
}

/** `8 GPU, 5 reservations`. */
function quotaText({ quota }: TenantDTO): string {
  if (quota === undefined) return "-";
  const { reservations, ...amounts } = quota;
  const parts = [
    ...(Object.keys(amounts).length === 0 ? [] : [described(amounts)]),
    ...(reservations === undefined ? [] : [`${reservations} reservations`]),
  ];
  return parts.join(", ");
}
