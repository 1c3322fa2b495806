/**
 * Phases of reservations and requests. They only move forward; Released and Failed are final. Only requests are Pending: they
 * wait in the queue, or their agent has not asked yet. A reservation of the ledger begins as Reserved.
 */
export const PHASES = ["Pending", "Reserved", "Active", "Released", "Failed"] as const;
export type Phase = (typeof PHASES)[number];

export const RELEASE_REASONS = [
  "Expired",
  "ReleasedByRequester",
  "ReleasedByAdmin",
  "RequesterLost",
  "ActivationTimeout",
] as const;
export type ReleaseReason = (typeof RELEASE_REASONS)[number];

export const FAILURE_REASONS = [
  "NoCapacity",
  "Invalid",
  "ProviderRefused",
  "ProviderLost",
  "Preempted",
  "WaitTimeout",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Why a reservation ended: a closed list, so that every end can be counted and explained. */
export type EndReason = ReleaseReason | FailureReason;

export type LifecycleEvent = "grant" | "activate" | "renew" | "acknowledge" | EndReason;

const TRANSITIONS: Readonly<Record<Phase, Readonly<Partial<Record<LifecycleEvent, Phase>>>>> = {
  Pending: {
    grant: "Reserved",
    NoCapacity: "Failed",
    Invalid: "Failed",
    ReleasedByRequester: "Released",
    ReleasedByAdmin: "Released",
    RequesterLost: "Released",
    WaitTimeout: "Failed",
  },
  Reserved: {
    activate: "Active",
    renew: "Reserved",
    acknowledge: "Reserved",
    Expired: "Released",
    ReleasedByRequester: "Released",
    ReleasedByAdmin: "Released",
    RequesterLost: "Released",
    ActivationTimeout: "Released",
    ProviderRefused: "Failed",
    ProviderLost: "Failed",
    Preempted: "Failed",
  },
  Active: {
    activate: "Active",
    renew: "Active",
    acknowledge: "Active",
    Expired: "Released",
    ReleasedByRequester: "Released",
    ReleasedByAdmin: "Released",
    RequesterLost: "Released",
    ProviderRefused: "Failed",
    ProviderLost: "Failed",
    Preempted: "Failed",
  },
  Released: {},
  Failed: {},
};

/** The phase that follows, or undefined when the event cannot happen in this phase. */
export function nextPhase(phase: Phase, event: LifecycleEvent): Phase | undefined {
  return TRANSITIONS[phase][event];
}

/** True while the reservation holds capacity. */
export function isLive(phase: Phase): boolean {
  return phase === "Reserved" || phase === "Active";
}

export function isFinal(phase: Phase): boolean {
  return phase === "Released" || phase === "Failed";
}
