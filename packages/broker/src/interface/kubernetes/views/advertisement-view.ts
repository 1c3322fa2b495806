import { formatTime } from "@resource-broker/base";
import { fromAdvertisement } from "@resource-broker/contract";
import {
  AGENT_FIELD_MANAGER,
  apiVersionOf,
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  clusterAdvertisementName,
  KUBE_LABEL,
} from "@resource-broker/contract/crd";
import type { AccountView, ClusterId } from "@resource-broker/domain";
import { type AdvertisedAccount, hasAdvertised } from "../../shared/advertised-account.ts";
import {
  ADVERTISEMENT_CONDITION,
  type AdvertisementStatus,
  type AdvertisementStatusContext,
  advertisementStatus,
} from "../builders/advertisement-status.ts";
import { FIELD_MANAGER } from "../ports.ts";
import type { DesiredObject, Layer, StatusOwnership } from "./desired-object.ts";

const SUFFIX = clusterAdvertisementName("");

/** These fields of the status belong to the store and other writers. */
export const ADVERTISEMENT_OWNERSHIP: StatusOwnership = {
  othersFields: ["holds", "epoch", "commit"],
  ownConditions: Object.values(ADVERTISEMENT_CONDITION),
  ignoresUpdateTime: false,
};

/**
 * Fields of the cluster are written with the agent's field manager: when the agent applies its own advertisement, server-side
 * apply removes fields that the agent does not set. Label and sums belong to the broker; agents may not change them
 * (deploy/admission/agent-writes.yaml).
 */
export const ADVERTISEMENT_LAYERS: readonly Layer<ClusterAdvertisement>[] = [
  {
    fieldManager: FIELD_MANAGER,
    partOf: ({ metadata, spec }) => {
      const { reserved, available } = spec.resources;
      return { labels: metadata.labels, spec: { resources: { reserved, available } } };
    },
  },
  {
    fieldManager: AGENT_FIELD_MANAGER,
    partOf: ({ spec }) => {
      const { reserved: _, available: __, ...resources } = spec.resources;
      return { spec: { ...spec, resources } };
    },
  },
];

/** A minimal valid object with the view label: without the label it would count as an agent's advertisement. */
export function minimalAdvertisement({
  spec,
  ...desired
}: DesiredObject<ClusterAdvertisement>): Partial<ClusterAdvertisement> {
  const { clusterID, timestamp } = spec;
  const { used: _, ...resources } = spec.resources;
  return { ...desired, spec: { clusterID, timestamp, resources } };
}

/** The cluster in the name of a ClusterAdvertisement; undefined: it is not such a name. */
export function clusterOf(name: string): ClusterId | undefined {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined;
}

/** The view of a cluster in the ledger. */
export function desiredAdvertisement(
  account: AdvertisedAccount,
  namespace: string,
): DesiredObject<ClusterAdvertisement> {
  return {
    apiVersion: apiVersionOf(clusterAdvertisementKind),
    kind: clusterAdvertisementKind.kind,
    metadata: {
      name: clusterAdvertisementName(account.clusterId),
      namespace,
      labels: { [KUBE_LABEL.view]: "true" },
    },
    spec: fromAdvertisement(account.advertisement, account),
  };
}

export function desiredAdvertisementStatus(
  account: AccountView | undefined,
  object: ClusterAdvertisement,
  context: AdvertisementStatusContext,
): AdvertisementStatus {
  if (!hasAdvertised(account)) {
    // The ledger does not know the cluster: the last answer stays, and it gets no reservations.
    const { accepted } = object.status ?? {};
    const outcome = accepted === undefined ? {} : { accepted };
    return advertisementStatus({ account, object, outcome }, context);
  }
  const { timestamp, instance, sequence } = fromAdvertisement(account.advertisement, account);
  const accepted = {
    timestamp,
    ...(instance === undefined ? {} : { instance }),
    ...(sequence === undefined ? {} : { sequence }),
    at: formatTime(account.receivedAt),
  };
  return advertisementStatus({ account, object, outcome: { accepted } }, context);
}

/** The desired object with the times and sequence of the current one, to find other differences. */
export function withTimesOf(
  desired: DesiredObject<ClusterAdvertisement>,
  object: ClusterAdvertisement,
): DesiredObject<ClusterAdvertisement> {
  const { timestamp, sequence } = object.spec;
  const isCounted = desired.spec.sequence !== undefined && sequence !== undefined;
  return { ...desired, spec: { ...desired.spec, timestamp, ...(isCounted ? { sequence } : {}) } };
}

export function withStatusTimesOf(
  status: AdvertisementStatus,
  object: ClusterAdvertisement,
): AdvertisementStatus {
  const { accepted, lastUpdateTime } = object.status ?? {};
  if (accepted === undefined || lastUpdateTime === undefined) return status;
  return { ...status, accepted, lastUpdateTime };
}
