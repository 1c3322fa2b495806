import { amountOf, describeAmount, fits, parseTime, resourceNames } from "@resource-broker/base";
import { type ProviderInstruction, providerInstructionKind } from "@resource-broker/contract/crd";
import {
  isSameStatus,
  noticeCondition,
  statusOf,
  unknownMessage,
  unknownToBrokerCondition,
} from "../manifests/conditions.ts";
import { isSameInstruction, providerInstruction } from "../manifests/instructions.ts";
import type { Observation } from "../observe/cluster-observer.ts";
import { availableOf } from "../publish/advertisement.ts";
import { type BrokerView, expiryOf } from "../reservations/expiry.ts";
import { type Reservation, withWrittenDefaults } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";

/** Whether the cluster has capacity for a reservation that it has not accepted yet. `unknown`: the cluster is not observed yet. */
export type CapacityCheck =
  | { readonly kind: "fits" | "unknown" }
  /** `isHeld`: it would fit beside the cluster's own pods; other reservations have what is missing. */
  | { readonly kind: "short"; readonly reason: string; readonly isHeld?: boolean };

export interface ProviderInstructionState {
  readonly entry: CachedReservation | undefined;
  readonly instruction: ProviderInstruction | undefined;
  readonly namespace: string;
  readonly capacity: CapacityCheck;
  /** The generation that was last acknowledged to this broker; -1: acknowledged without a generation. */
  readonly acknowledged: number | undefined;
  readonly broker: BrokerView;
  /** Wall clock, for times in the status. */
  readonly wallMs: number;
}

export type ProviderInstructionStatus = NonNullable<ProviderInstruction["status"]>;

export type ProviderInstructionAction =
  | { readonly kind: "apply"; readonly instruction: ProviderInstruction }
  | { readonly kind: "status"; readonly status: ProviderInstructionStatus }
  | { readonly kind: "acknowledge"; readonly generation: number | undefined }
  | { readonly kind: "refuse"; readonly reason: string }
  /** It has expired, and the broker cannot be asked. */
  | { readonly kind: "expire-locally" }
  | { readonly kind: "remove" };

export interface ProviderInstructionPlan {
  readonly actions: readonly ProviderInstructionAction[];
  readonly requeueAfterMs?: number;
}

const NOT_OBSERVED_RETRY_MS = 100;
/**
 * The queue grants in the moment in which something ends, and over objects that end may be heard later than the grant: for
 * this long a grant is not refused because of other reservations.
 */
const NEWS_MS = 5000;
const NEWS_RETRY_MS = 250;

/** What a provider does about one reservation. */
export function planProviderInstruction(state: ProviderInstructionState): ProviderInstructionPlan {
  const { entry, instruction } = state;
  if (entry === undefined) return { actions: [] };
  const removal: readonly ProviderInstructionAction[] = instruction === undefined ? [] : [{ kind: "remove" }];
  if (entry.endedAt !== undefined) return { actions: removal };
  const expiry = expiryOf(entry, state.broker);
  if (expiry.kind === "over") return { actions: [{ kind: "expire-locally" }, ...removal] };
  const unfit = isNew(state) ? planUnfit(entry.reservation, state) : undefined;
  if (unfit !== undefined) return unfit;
  return {
    actions: planKeep(entry, state),
    ...(expiry.kind === "later" ? { requeueAfterMs: expiry.inMs } : {}),
  };
}

/** Undefined: the cluster has room for it. */
function planUnfit(
  reservation: Reservation,
  { capacity, broker }: ProviderInstructionState,
): ProviderInstructionPlan | undefined {
  if (capacity.kind !== "short") {
    return capacity.kind === "fits" ? undefined : { actions: [], requeueAfterMs: NOT_OBSERVED_RETRY_MS };
  }
  if (capacity.isHeld === true && isNews(reservation, broker))
    return { actions: [], requeueAfterMs: NEWS_RETRY_MS };
  return { actions: [{ kind: "refuse", reason: capacity.reason }] };
}

function isNews({ reservedAt = "" }: Reservation, { now }: BrokerView): boolean {
  const at = parseTime(reservedAt);
  return at !== undefined && now !== undefined && now - at < NEWS_MS;
}

/** Only a reservation that was never accepted can be refused; an accepted one is kept. */
function isNew({ entry, instruction, acknowledged }: ProviderInstructionState): boolean {
  return instruction === undefined && acknowledged === undefined && entry?.syncState === "confirmed";
}

function planKeep(entry: CachedReservation, state: ProviderInstructionState): ProviderInstructionAction[] {
  const { instruction, namespace, acknowledged } = state;
  const { generation } = entry.reservation;
  const desired = providerInstruction(withWrittenDefaults(entry.reservation, instruction), namespace);
  const actions: ProviderInstructionAction[] = [];
  if (instruction === undefined || !isSameInstruction(instruction, desired)) {
    actions.push({ kind: "apply", instruction: desired });
  }
  const status = enforcedStatus(entry, state);
  if (!isSameStatus(instruction?.status, status)) actions.push({ kind: "status", status });
  const isAcknowledged = acknowledged !== undefined && acknowledged >= (generation ?? -1);
  if (entry.syncState === "confirmed" && !isAcknowledged) actions.push({ kind: "acknowledge", generation });
  return actions;
}

function enforcedStatus(
  entry: CachedReservation,
  { instruction, wallMs }: ProviderInstructionState,
): ProviderInstructionStatus {
  const { message } = entry.reservation;
  const fields: ProviderInstructionStatus = {
    enforced: true,
    message: entry.syncState === "unknown" ? unknownMessage(entry) : message,
  };
  return statusOf(providerInstructionKind.status, fields, {
    before: instruction?.status,
    updates: [
      { type: "Enforced", status: "True", reason: "Held", message },
      unknownToBrokerCondition(entry),
      ...noticeCondition(entry.reservation, instruction?.status),
    ],
    observedGeneration: instruction?.metadata.generation,
    wallMs,
  });
}

/**
 * Whether a reservation fits beside what the cluster uses and has reserved. The broker decided on the last
 * advertisement; pods may have started since.
 */
export function checkCapacity(
  reservation: Reservation,
  observation: Observation,
  reservations: readonly Reservation[],
): CapacityCheck {
  const wanted = reservation.resources;
  if (wanted === undefined) return { kind: "short", reason: "the amounts of the reservation cannot be read" };
  const others = reservations.filter(({ id }) => id !== reservation.id);
  const available = availableOf(observation, others);
  if (fits(wanted, available)) return { kind: "fits" };
  const missing = resourceNames(wanted)
    .map((name) => ({ name, amount: amountOf(wanted, name) - amountOf(available, name) }))
    .filter(({ amount }) => amount > 0)
    .map(({ name, amount }) => describeAmount(name, amount));
  return {
    kind: "short",
    reason: `${missing.join(" / ")} is missing: capacity was used since the last advertisement`,
    isHeld: fits(wanted, availableOf(observation, [])),
  };
}
