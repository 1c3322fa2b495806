import { type FormattedResources, parseAmount, type ResourceVector } from "@resource-broker/base";
import type { SliceDefaults } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import type { EndReason, Phase, TIERS, WaitingReason } from "@resource-broker/domain";

/** A reservation as the agent knows it, whatever the transport. `transport/reservation-mapping.ts` makes it. */
export interface Reservation {
  readonly id: string;
  readonly requester: string;
  readonly provider: string;
  readonly phase: Phase;
  readonly message: string;
  readonly endReason?: EndReason | undefined;
  /** As the broker sent them: instructions repeat the text. */
  readonly quantities: FormattedResources;
  /** The same amounts, parsed; undefined: unreadable. Such a reservation counts as the whole cluster. */
  readonly resources: ResourceVector | undefined;
  /** Times are RFC 3339, as the broker sent them. */
  readonly createdAt: string;
  readonly reservedAt?: string | undefined;
  readonly expiresAt?: string | undefined;
  /** Undefined: an older broker. */
  readonly generation?: number | undefined;
  /** The idempotency key; only the requester has it. */
  readonly key?: string | undefined;
  /** True: the broker does not return keys, and this agent added it. */
  readonly isKeyAdded?: true;
  readonly cost?: NonNullable<ResourceRequest["status"]>["cost"] | undefined;
  readonly tier?: (typeof TIERS)[number] | undefined;
  readonly priority?: number | undefined;
  /** It is under notice: it ends then, unless the notice is withdrawn. Without a priority its provider is drained. */
  readonly preempting?: { readonly at: string; readonly byPriority?: number } | undefined;
  readonly decisionId?: string | undefined;
  readonly providerEndpoint?: string | undefined;
  /** The IDs of both clusters in the data plane, where they are known. */
  readonly dataPlaneIds: { readonly requester?: string | undefined; readonly provider?: string | undefined };
  readonly sliceDefaults?: SliceDefaults | undefined;
}

/** A request of this cluster that waits at the broker, or has left its queue without a reservation. */
export interface WaitingRequest {
  /** The ID that its reservation will have. */
  readonly id: string;
  readonly requester: string;
  readonly tenant: string;
  /** Pending, or final. */
  readonly phase: Phase;
  readonly message: string;
  readonly endReason?: EndReason | undefined;
  readonly createdAt: string;
  /** Undefined: it waits since `createdAt`. Earlier: it has the place of a preempted reservation. */
  readonly since?: string | undefined;
  /** It fails if it has no reservation by then. */
  readonly until: string;
  readonly generation: number;
  readonly key?: string | undefined;
  /** Undefined: the broker did not compute it. */
  readonly queue?: QueuePlace | undefined;
}

/** Where a request stands in the queue. */
export interface QueuePlace {
  readonly position: number;
  readonly of: number;
  readonly reason: WaitingReason;
  readonly expectedStart?: string | undefined;
  readonly nominatedTo?: string | undefined;
}

/** The idempotency key of one attempt of one ResourceRequest: a repeated call reserves nothing new. */
export function attemptKey(uid: string, attempt: number): string {
  return `${uid}-${attempt}`;
}

const ATTEMPT_KEY = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-([1-9][0-9]{0,8})$/;

export interface Attempt {
  readonly uid: string;
  readonly attempt: number;
}

/** The UID and attempt of a key; undefined for keys of others. */
export function attemptOf(key: string | undefined): Attempt | undefined {
  const [, uid, attempt] = ATTEMPT_KEY.exec(key ?? "") ?? [];
  return uid === undefined ? undefined : { uid, attempt: Number(attempt) };
}

/** Brokers without keys do not return them; the agent needs them to find the request. */
export function withKey(reservation: Reservation, key: string | undefined): Reservation {
  return reservation.key !== undefined || key === undefined
    ? reservation
    : { ...reservation, key, isKeyAdded: true };
}

/** The reservation with these slice defaults. */
export function withSliceDefaults(
  reservation: Reservation,
  sliceDefaults: SliceDefaults | undefined,
): Reservation {
  if (reservation.sliceDefaults === undefined && sliceDefaults === undefined) return reservation;
  const { sliceDefaults: _, ...others } = reservation;
  return sliceDefaults === undefined ? others : { ...others, sliceDefaults };
}

/** The reservation as its instruction can show it: slice defaults of an existing instruction are immutable. */
export function withWrittenDefaults(
  reservation: Reservation,
  instruction: { readonly spec: { readonly sliceDefaults?: SliceDefaults } } | undefined,
): Reservation {
  return instruction === undefined
    ? reservation
    : withSliceDefaults(reservation, instruction.spec.sliceDefaults);
}

/** False: a provider could not parse it, and would grant none of it. */
export function isParseable({ ephemeralStorage }: SliceDefaults): boolean {
  const parsed = parseAmount(ephemeralStorage, { unit: "one", rounding: "down" });
  return parsed.ok && parsed.amount > 0;
}
