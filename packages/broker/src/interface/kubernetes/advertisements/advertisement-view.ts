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
  ADVERTISEMENT_OWNERSHIP,
  type AdvertisementStatus,
  type AdvertisementStatusContext,
  advertisementStatus,
} from "../builders/advertisement-status.ts";
import { FIELD_MANAGER } from "../ports.ts";
import { type DesiredObject, type Layer, planView, type Step } from "../projection/desired-object.ts";
import { versionFields } from "./advertisement-owner.ts";

const SUFFIX = clusterAdvertisementName("");

/**
 * Fields of the cluster are written with the agent's field manager: when the agent applies its own advertisement, server-side
 * apply removes fields that the agent does not set. Label and sums belong to the broker; agents may not change them
 * (deploy/admission/agent-writes.yaml).
 */
const LAYERS: readonly Layer<ClusterAdvertisement>[] = [
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

/** What is known of a cluster that is shown. */
export interface ClusterState extends AdvertisementStatusContext {
  readonly namespace: string;
  readonly account: AccountView | undefined;
  /** True: the view is written even if only the time of the last advertisement differs. */
  readonly isRefreshDue: boolean;
}

/** `isOutdated`: only the time of the last advertisement differs; such views are written rarely. */
export interface ViewOutdated {
  readonly isOutdated?: boolean;
}

/** Plans the view of a cluster in the ledger. */
export function planAdvertisementView(
  state: ClusterState,
  account: AdvertisedAccount,
  object: ClusterAdvertisement | undefined,
): Step<ClusterAdvertisement, never> & ViewOutdated {
  const desired = desiredAdvertisement(account, state.namespace);
  if (object === undefined) return { kind: "show", write: { kind: "create", desired } };
  const view = { layers: LAYERS, ownership: ADVERTISEMENT_OWNERSHIP };
  const status = viewStatus(state, object);
  const write = planView({ desired, status }, object, view);
  if (write === undefined) return { kind: "done" };
  const kept = { desired: withTimesOf(desired, object), status: withStatusTimesOf(status, object) };
  const isOnlyOutdated = planView(kept, object, view) === undefined;
  return isOnlyOutdated && !state.isRefreshDue ? { kind: "done", isOutdated: true } : { kind: "show", write };
}

function desiredAdvertisement(
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

/** If the ledger does not know the cluster, the last answer stays, and it gets no reservations. */
export function viewStatus(state: ClusterState, object: ClusterAdvertisement): AdvertisementStatus {
  const { account } = state;
  const accepted = hasAdvertised(account)
    ? {
        ...versionFields(fromAdvertisement(account.advertisement, account)),
        at: formatTime(account.receivedAt),
      }
    : object.status?.accepted;
  return advertisementStatus({ account, object, outcome: accepted === undefined ? {} : { accepted } }, state);
}

/** The desired object with the times and sequence of the current one, to find other differences. */
function withTimesOf(
  desired: DesiredObject<ClusterAdvertisement>,
  object: ClusterAdvertisement,
): DesiredObject<ClusterAdvertisement> {
  const { timestamp, sequence } = object.spec;
  const isCounted = desired.spec.sequence !== undefined && sequence !== undefined;
  return { ...desired, spec: { ...desired.spec, timestamp, ...(isCounted ? { sequence } : {}) } };
}

function withStatusTimesOf(status: AdvertisementStatus, object: ClusterAdvertisement): AdvertisementStatus {
  const { accepted, lastUpdateTime } = object.status ?? {};
  if (accepted === undefined || lastUpdateTime === undefined) return status;
  return { ...status, accepted, lastUpdateTime };
}
