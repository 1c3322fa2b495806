import { formatTime, isZero } from "@resource-broker/base";
import { fromAdvertisement, toQuantities } from "@resource-broker/contract";
import {
  type ClusterAdvertisement,
  KUBE_LABEL,
  type Reservation as ReservationObject,
} from "@resource-broker/contract/crd";
import type { AccountView, Reservation } from "@resource-broker/domain";
import type { Resource } from "@resource-broker/kube";
import { expect } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";
import type { TestBroker, TestEnvironment } from "./environment.ts";
import { NAMESPACE } from "./samples.ts";

/** Those of other types are others' to write. */
const OWN_CONDITIONS = ["Ready", "Stale", "Overcommitted"];
const isView = "true";

/** Whoever reads the objects knows what the ledger knows; compared without the code that writes them. */
export async function expectViewsMatchLedger({ client }: TestEnvironment, { engine }: TestBroker) {
  const read = async <T extends { readonly metadata: { readonly name: string } }>(
    resource: Resource<T>,
    part: (object: T) => object,
  ): Promise<Record<string, object>> => {
    const found: Record<string, object> = {};
    await client.list(resource, { namespace: NAMESPACE }, (object) => {
      found[object.metadata.name] = part(object);
    });
    return found;
  };
  const { accounts, reservations } = engine.ledger;
  const advertised = [...accounts.values()].filter(({ advertisement }) => advertisement !== undefined);
  expect(await read(CLUSTER_ADVERTISEMENTS, shownCluster)).toEqual(
    Object.fromEntries(advertised.map((account) => [`${account.clusterId}-adv`, clusterIn(account)])),
  );
  expect(await read(RESERVATIONS, shownReservation)).toEqual(
    Object.fromEntries([...reservations.values()].map((each) => [each.id, reservationIn(each)])),
  );

  function clusterIn(account: AccountView): object {
    const { advertisement, receivedAt, cordon, evictedAt, overcommitted } = account;
    if (advertisement === undefined) return {};
    const { timestamp: _, sequence: __, ...spec } = fromAdvertisement(advertisement, account);
    const isStale = engine.now() - receivedAt > engine.policy.stalenessMs;
    const isReady = !isStale && cordon === undefined && evictedAt === undefined;
    const conditions = [isReady, isStale, !isZero(overcommitted)];
    return {
      label: isView,
      spec,
      phase: isStale ? "Stale" : "Active",
      ledgerID: engine.ledgerId,
      conditions: conditions.map((is, index) => `${OWN_CONDITIONS[index]}=${is ? "True" : "False"}`),
    };
  }

  function reservationIn(reservation: Reservation): object {
    const { id, requester, provider, granted, phase, reason, expiresAt, generation } = reservation;
    return {
      labels: {
        [KUBE_LABEL.view]: isView,
        [KUBE_LABEL.requester]: requester,
        [KUBE_LABEL.target]: provider,
      },
      spec: {
        requesterID: requester,
        targetClusterID: provider,
        requestedResources: toQuantities(granted),
      },
      status: {
        phase,
        reason,
        expiresAt: expiresAt === undefined ? undefined : formatTime(expiresAt),
        generation,
        ledgerID: engine.ledgerId,
        reservationID: id,
        orphaned: undefined,
      },
    };
  }
}

function shownCluster({ metadata, spec, status }: ClusterAdvertisement): object {
  const { timestamp: _, sequence: __, ...advertised } = spec;
  const conditions = (status?.conditions ?? [])
    .filter(({ type }) => OWN_CONDITIONS.includes(type))
    .map(({ type, status: is }) => `${type}=${is}`);
  const { phase, ledgerID } = status ?? {};
  return { label: metadata.labels?.[KUBE_LABEL.view], spec: advertised, phase, ledgerID, conditions };
}

function shownReservation({ metadata, spec, status }: ReservationObject): object {
  const { requesterID, targetClusterID, requestedResources } = spec;
  const { phase, reason, expiresAt, generation, ledgerID, reservationID, conditions = [] } = status ?? {};
  const orphaned = conditions.find(({ type }) => type === "Orphaned");
  return {
    labels: metadata.labels,
    spec: { requesterID, targetClusterID, requestedResources },
    status: { phase, reason, expiresAt, generation, ledgerID, reservationID, orphaned },
  };
}
