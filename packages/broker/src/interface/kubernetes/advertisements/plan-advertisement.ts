import { formatTime, parseTime } from "@resource-broker/base";
import { describeProblems, toAdvertisement, validate } from "@resource-broker/contract";
import {
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  clusterAdvertisementName,
  KUBE_LABEL,
} from "@resource-broker/contract/crd";
import {
  type AccountView,
  type Advertisement,
  CURRENT_PROTOCOL,
  type LedgerView,
} from "@resource-broker/domain";
import { withoutIncompleteCost } from "../../shared/checked.ts";
import {
  type AdvertisementOutcome,
  type AdvertisementStatus,
  type AdvertisementStatusContext,
  advertisementStatus,
  brokerResources,
  freshForMs,
  isAdvertisementStatusCurrent,
} from "../builders/advertisement-status.ts";
import { mergePatch } from "../objects/diff.ts";

/** An object and what the ledger knows. */
export interface AdvertisementState extends AdvertisementStatusContext {
  readonly object: ClusterAdvertisement;
  readonly ledger: LedgerView;
  /** The outcome of the advertisement in the object, if this process has it and the status does not show it yet. */
  readonly outcome: AdvertisementOutcome | undefined;
}

/** The next step for an object. After each step the object and the ledger are read again. */
export type AdvertisementStep =
  | { readonly kind: "done"; readonly requeueAfterMs?: number }
  | { readonly kind: "advertise"; readonly advertisement: Advertisement }
  | { readonly kind: "refuse"; readonly problem: string }
  /** A merge patch of spec.resources. */
  | { readonly kind: "set-resources"; readonly resources: object }
  | { readonly kind: "write-status"; readonly status: AdvertisementStatus };

/** Without an instance it comes from an older agent, which writes whole objects. */
const OLDER_PROTOCOL = 1;
const DONE: AdvertisementStep = { kind: "done" };

export function planAdvertisement(state: AdvertisementState): AdvertisementStep {
  const { object } = state;
  const { metadata, spec } = object;
  const isForeign = metadata.labels?.[KUBE_LABEL.view] === "true" || metadata.deletionTimestamp !== undefined;
  if (isForeign) return DONE;
  const expectedName = clusterAdvertisementName(spec.clusterID);
  if (metadata.name !== expectedName) {
    return (
      statusStep(advertisementStatus({ account: undefined, object, expectedName }, state), object) ?? DONE
    );
  }
  const outcome = state.outcome ?? outcomeInStatus(object) ?? outcomeInLedger(state.ledger, object);
  if (outcome === undefined) return planNew(object);
  return planKnown(state, outcome);
}

/** Identifies one advertisement among those of its cluster. */
export function versionFields({
  spec,
}: ClusterAdvertisement): NonNullable<AdvertisementStatus["accepted"]> extends infer A
  ? Omit<A, "at">
  : never {
  const { timestamp, instance, sequence } = spec;
  return {
    timestamp,
    ...(instance === undefined ? {} : { instance }),
    ...(sequence === undefined ? {} : { sequence }),
  };
}

/** The outcome in the status for the advertisement in the spec; undefined if there is none yet. */
function outcomeInStatus(object: ClusterAdvertisement): AdvertisementOutcome | undefined {
  const { accepted, refused } = object.status ?? {};
  const version = versionFields(object);
  if (isSameVersion(version, refused))
    return { ...(accepted === undefined ? {} : { accepted }), ...(refused && { refused }) };
  return isSameVersion(version, accepted) && accepted !== undefined ? { accepted } : undefined;
}

/** The ledger has this advertisement, but the status was lost. Accepting it again would make a stale cluster look fresh. */
function outcomeInLedger(
  { accounts }: LedgerView,
  object: ClusterAdvertisement,
): AdvertisementOutcome | undefined {
  const account = accounts.get(object.spec.clusterID);
  const { statedAt, instance, sequence } = account?.advertisement ?? {};
  const version = versionFields(object);
  const isKnown =
    account !== undefined &&
    statedAt === parseTime(version.timestamp) &&
    instance === version.instance &&
    sequence === version.sequence;
  return isKnown ? { accepted: { ...version, at: formatTime(account.receivedAt) } } : undefined;
}

type VersionFields = ReturnType<typeof versionFields>;

function isSameVersion(version: VersionFields, recorded: VersionFields | undefined): boolean {
  return (
    recorded !== undefined &&
    recorded.timestamp === version.timestamp &&
    recorded.instance === version.instance &&
    recorded.sequence === version.sequence
  );
}

/** The API server has checked the object, but perhaps by an older definition. */
function planNew({ spec }: ClusterAdvertisement): AdvertisementStep {
  const checked = validate(clusterAdvertisementKind.spec, withoutIncompleteCost(spec));
  if (!checked.ok) return { kind: "refuse", problem: describeProblems(checked.problems) };
  const { resources, instance } = checked.value;
  const protocol = instance === undefined ? OLDER_PROTOCOL : CURRENT_PROTOCOL;
  // `reserved` and `available` in the object are ignored: the broker computes them.
  const dto = { ...checked.value, resources: { ...resources, available: resources.allocatable } };
  const mapped = toAdvertisement(dto, protocol);
  if (!mapped.ok) return { kind: "refuse", problem: describeProblems(mapped.problems) };
  return { kind: "advertise", advertisement: mapped.value };
}

function planKnown(state: AdvertisementState, outcome: AdvertisementOutcome): AdvertisementStep {
  const { object, ledger } = state;
  const account = ledger.accounts.get(object.spec.clusterID);
  const resources = account === undefined ? undefined : missingResources(object, account);
  if (resources !== undefined) return { kind: "set-resources", resources };
  const status = advertisementStatus({ account, object, outcome }, state);
  return statusStep(status, object) ?? untilStale(account, state);
}

/** Rewrites the fields if somebody changed them, so that nobody can lower them. */
function missingResources({ spec }: ClusterAdvertisement, account: AccountView): object | undefined {
  if (account.advertisement === undefined) return undefined;
  const { reserved, available } = spec.resources;
  return mergePatch({ reserved, available }, brokerResources(account));
}

function statusStep(
  status: AdvertisementStatus,
  object: ClusterAdvertisement,
): AdvertisementStep | undefined {
  return isAdvertisementStatusCurrent(status, object) ? undefined : { kind: "write-status", status };
}

function untilStale(account: AccountView | undefined, state: AdvertisementState): AdvertisementStep {
  const leftMs = account?.advertisement === undefined ? undefined : freshForMs(account, state);
  return leftMs === undefined ? DONE : { kind: "done", requeueAfterMs: leftMs };
}
