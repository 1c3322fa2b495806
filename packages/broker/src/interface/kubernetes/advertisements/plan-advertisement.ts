import { formatTime } from "@resource-broker/base";
import { describeProblems, toAdvertisement, validate } from "@resource-broker/contract";
import {
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  clusterAdvertisementName,
  KUBE_ANNOTATION,
  KUBE_LABEL,
} from "@resource-broker/contract/crd";
import {
  type AccountView,
  type Advertisement,
  CALLS_PROTOCOL,
  type LedgerView,
} from "@resource-broker/domain";
import { type AdvertisedAccount, hasAdvertised } from "../../shared/advertised-account.ts";
import { withoutIncompleteCost } from "../../shared/checked.ts";
import {
  ADVERTISEMENT_OWNERSHIP,
  type AdvertisementOutcome,
  type AdvertisementStatus,
  advertisementStatus,
  brokerResources,
} from "../builders/advertisement-status.ts";
import { mergePatch } from "../builders/conditions.ts";
import { hasViewLabel } from "../builders/identify.ts";
import { type Step, statusWrite, stepFor, type Write } from "../projection/desired-object.ts";
import { isSameVersion, ledgerVersion, ownerOf, versionFields, versionOf } from "./advertisement-owner.ts";
import {
  type ClusterState,
  clusterOf,
  planAdvertisementView,
  type ViewOutdated,
  viewStatus,
} from "./advertisement-view.ts";

/** An object, if there is one, and what the ledger knows. */
export interface AdvertisementState extends Omit<ClusterState, "account"> {
  readonly name: string;
  readonly object: ClusterAdvertisement | undefined;
  readonly ledger: LedgerView;
  /** Serve what agents write. */
  readonly objects: boolean;
  /** Show the ledger. */
  readonly views: boolean;
  /** This process saw that only the view label was removed. */
  readonly isLabelRemoved: boolean;
  /** The outcome of the advertisement in the object, if this process has it and the status does not show it yet. */
  readonly outcome: AdvertisementOutcome | undefined;
}

export type AdvertisementCall =
  | { readonly kind: "advertise"; readonly advertisement: Advertisement }
  | { readonly kind: "refuse"; readonly problem: string };

export type AdvertisementStep = Step<ClusterAdvertisement, AdvertisementCall> & ViewOutdated;

/** Without an instance it comes from an older agent, which writes whole objects. */
const OLDER_PROTOCOL = 1;
const DONE: AdvertisementStep = { kind: "done" };

/** Plans the next step for a ClusterAdvertisement: an agent's advertisement, or a view of the ledger. */
export function planAdvertisement(state: AdvertisementState): AdvertisementStep {
  const { object, objects, views } = state;
  const account = state.ledger.accounts.get(clusterOf(state.name) ?? "");
  if (object === undefined) return views && hasAdvertised(account) ? showCluster(state, account) : DONE;
  if (object.metadata.deletionTimestamp !== undefined) return DONE;
  const step = views ? planOwned(state, object, account) : undefined;
  if (step !== undefined) return step;
  return hasViewLabel(object) || !objects ? DONE : planAgents(state, object);
}

/** The step for an object of the broker; undefined: an agent owns it. */
function planOwned(
  state: AdvertisementState,
  object: ClusterAdvertisement,
  account: AccountView | undefined,
): AdvertisementStep | undefined {
  const owner = ownerOf({ ...state, object, account });
  if (owner === "handed-over") return { kind: "show", write: REMOVE_LABEL };
  const isShown = hasViewLabel(object) || hasAdvertised(account);
  return owner === "broker" && isShown ? planView(state, object, account) : undefined;
}

const REMOVE_LABEL: Write<ClusterAdvertisement> = {
  kind: "patch",
  name: "remove-label",
  change: { metadata: { labels: { [KUBE_LABEL.view]: null } } },
};

function planView(
  state: AdvertisementState,
  object: ClusterAdvertisement,
  account: AccountView | undefined,
): AdvertisementStep {
  if (object.spec.clusterID !== clusterOf(state.name)) return { kind: "show", write: { kind: "delete" } };
  if (hasAdvertised(account)) return showCluster(state, account);
  const status = viewStatus({ ...state, account }, object);
  return stepFor("show", statusWrite(status, object, ADVERTISEMENT_OWNERSHIP));
}

function showCluster(state: AdvertisementState, account: AdvertisedAccount): AdvertisementStep {
  return planAdvertisementView({ ...state, account }, account, state.object);
}

/** An agent's own object. */
function planAgents(state: AdvertisementState, object: ClusterAdvertisement): AdvertisementStep {
  const expectedName = clusterAdvertisementName(object.spec.clusterID);
  if (object.metadata.name !== expectedName) {
    return statusStep(advertisementStatus({ account: undefined, object, expectedName }, state), object);
  }
  const outcome = state.outcome ?? outcomeInStatus(object) ?? outcomeInLedger(state.ledger, object);
  return outcome === undefined ? planNew(object) : planKnown(state, object, outcome);
}

/** The outcome in the status for the advertisement in the spec; undefined if there is none yet. */
function outcomeInStatus({ spec, status }: ClusterAdvertisement): AdvertisementOutcome | undefined {
  const { accepted, refused } = status ?? {};
  const stated = versionOf(spec);
  if (refused !== undefined && isSameVersion(stated, versionOf(refused)))
    return { ...(accepted === undefined ? {} : { accepted }), refused };
  return accepted !== undefined && isSameVersion(stated, versionOf(accepted)) ? { accepted } : undefined;
}

/** The ledger has this advertisement, but the status was lost. Accepting it again would make a stale cluster look fresh. */
function outcomeInLedger(
  { accounts }: LedgerView,
  { spec }: ClusterAdvertisement,
): AdvertisementOutcome | undefined {
  const account = accounts.get(spec.clusterID);
  if (!hasAdvertised(account) || !isSameVersion(versionOf(spec), ledgerVersion(account.advertisement)))
    return undefined;
  return { accepted: { ...versionFields(spec), at: formatTime(account.receivedAt) } };
}

/** The API server has checked the object, but perhaps by an older definition. */
function planNew({ spec, metadata }: ClusterAdvertisement): AdvertisementStep {
  const checked = validate(clusterAdvertisementKind.spec, withoutIncompleteCost(spec));
  if (!checked.ok) return refuse(describeProblems(checked.problems));
  const { resources, instance } = checked.value;
  const protocol = instance === undefined ? OLDER_PROTOCOL : statedProtocol(metadata);
  // `reserved` and `available` in the object are ignored: the broker computes them.
  const dto = { ...checked.value, resources: { ...resources, available: resources.allocatable } };
  const mapped = toAdvertisement(dto, protocol);
  if (!mapped.ok) return refuse(describeProblems(mapped.problems));
  return { kind: "call", call: { kind: "advertise", advertisement: mapped.value } };
}

/** Agents before the annotation know all calls, and no notices. */
function statedProtocol({ annotations = {} }: ClusterAdvertisement["metadata"]): number {
  const stated = annotations[KUBE_ANNOTATION.protocol] ?? "";
  return Math.max(CALLS_PROTOCOL, /^[0-9]{1,4}$/.test(stated) ? Number(stated) : 0);
}

function refuse(problem: string): AdvertisementStep {
  return { kind: "call", call: { kind: "refuse", problem } };
}

function planKnown(
  state: AdvertisementState,
  object: ClusterAdvertisement,
  outcome: AdvertisementOutcome,
): AdvertisementStep {
  const account = state.ledger.accounts.get(object.spec.clusterID);
  const resources = hasAdvertised(account) ? missingResources(object, account) : undefined;
  if (resources !== undefined) {
    const change = { spec: { resources } };
    return { kind: "answer", write: { kind: "patch", name: "set-resources", change } };
  }
  return statusStep(advertisementStatus({ account, object, outcome }, state), object);
}

/** The merge patch that rewrites the fields if somebody changed them, so that nobody can lower them. */
function missingResources({ spec }: ClusterAdvertisement, account: AccountView): object | undefined {
  const { reserved, available } = spec.resources;
  return mergePatch({ reserved, available }, brokerResources(account));
}

function statusStep(status: AdvertisementStatus, object: ClusterAdvertisement): AdvertisementStep {
  return stepFor("answer", statusWrite(status, object, ADVERTISEMENT_OWNERSHIP));
}
