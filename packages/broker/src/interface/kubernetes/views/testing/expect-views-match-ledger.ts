import { formatTime } from "@resource-broker/base";
import { fromAdvertisement, toQuantities } from "@resource-broker/contract";
import {
  type ClusterAdvertisement,
  KUBE_LABEL,
  type Reservation as ReservationObject,
} from "@resource-broker/contract/crd";
import type { AccountView, Reservation } from "@resource-broker/domain";
import { expect } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../../objects/object-informers.ts";
import { NAMESPACE } from "../../testing/environment.ts";
import { type ViewsEnvironment } from "./views-environment.ts";

/** Those of other types are others' to write, whatever they say. */
const OWN_CONDITIONS = ["Ready", "Stale", "Overcommitted"];

/** Whoever reads the objects knows what the ledger knows; said without the code that writes them. */
export async function expectViewsMatchLedger(world: ViewsEnvironment): Promise<void> {
  const advertisements = await all(world, CLUSTER_ADVERTISEMENTS);
  const reservations = await all(world, RESERVATIONS);
  expect(byName(advertisements, essence)).toEqual(
    Object.fromEntries(
      [...world.engine.ledger.accounts.values()]
        .filter(({ advertisement }) => advertisement !== undefined)
        .map((account) => [`${account.clusterId}-adv`, essenceOfAccount(account, world)]),
    ),
  );
  expect(byName(reservations, reservationEssence)).toEqual(
    Object.fromEntries(
      [...world.engine.ledger.reservations.values()].map((each) => [each.id, essenceOfReservation(each)]),
    ),
  );
}

type Listed = Parameters<ViewsEnvironment["people"]["list"]>[0];

async function all<T>(world: ViewsEnvironment, resource: Listed & { readonly example?: T }): Promise<T[]> {
  const objects: T[] = [];
  await world.people.list<T>(resource, { namespace: NAMESPACE }, (object) => objects.push(object));
  return objects;
}

function byName<T extends { readonly metadata: { readonly name: string } }>(
  objects: readonly T[],
  part: (object: T) => object,
): Record<string, object> {
  return Object.fromEntries(objects.map((object) => [object.metadata.name, part(object)]));
}

function essence({ metadata, spec, status }: ClusterAdvertisement): object {
  const { timestamp: _, sequence: __, ...advertised } = spec;
  return {
    label: metadata.labels?.[KUBE_LABEL.view],
    spec: advertised,
    phase: status?.phase,
    ledgerID: status?.ledgerID,
    conditions: (status?.conditions ?? [])
      .filter(({ type }) => OWN_CONDITIONS.includes(type))
      .map(({ type, status: is }) => `${type}=${is}`),
  };
}

function essenceOfAccount(account: AccountView, { engine }: ViewsEnvironment): object {
  if (account.advertisement === undefined) throw new Error(`${account.clusterId} has said nothing`);
  const { timestamp: _, sequence: __, ...spec } = fromAdvertisement(account.advertisement, account);
  const isStale = engine.now() - account.receivedAt > engine.policy.stalenessMs;
  const isOver = account.overcommitted.cpuMillis > 0 || account.overcommitted.memoryBytes > 0;
  const isReady = !isStale && account.cordon === undefined;
  return {
    label: "true",
    spec,
    phase: isStale ? "Stale" : "Active",
    ledgerID: engine.ledgerId,
    conditions: [
      `Ready=${conditionStatus(isReady)}`,
      `Stale=${conditionStatus(isStale)}`,
      `Overcommitted=${conditionStatus(isOver)}`,
    ],
  };
}

function reservationEssence({ metadata, spec, status }: ReservationObject): object {
  const { requesterID, targetClusterID, requestedResources } = spec;
  const { phase, reason, expiresAt, generation, ledgerID, reservationID, conditions = [] } = status ?? {};
  const orphaned = conditions.find(({ type }) => type === "Orphaned");
  return {
    labels: metadata.labels,
    spec: { requesterID, targetClusterID, requestedResources, cost: "cost" in spec },
    status: { phase, reason, expiresAt, generation, ledgerID, reservationID, orphaned },
  };
}

function essenceOfReservation(reservation: Reservation): object {
  const { id, requester, provider, granted, phase, reason, expiresAt, generation } = reservation;
  return {
    labels: { [KUBE_LABEL.view]: "true", [KUBE_LABEL.requester]: requester, [KUBE_LABEL.target]: provider },
    spec: {
      requesterID: requester,
      targetClusterID: provider,
      requestedResources: toQuantities(granted),
      cost: false,
    },
    status: {
      phase,
      reason,
      expiresAt: expiresAt === undefined ? undefined : formatTime(expiresAt),
      generation,
      ledgerID: "led-1",
      reservationID: id,
      orphaned: undefined,
    },
  };
}

function conditionStatus(is: boolean): "True" | "False" {
  return is ? "True" : "False";
}
