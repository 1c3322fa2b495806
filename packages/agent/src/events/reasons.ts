/** Every reason of a Kubernetes Event that the agent writes, and what it means; docs/reference/agent-events.md lists them. */
export const EVENT_REASONS = {
  Reserved: "The broker granted the request; the message names the cluster that lends.",
  Delivered: "The borrowed resources can be used.",
  DataPlaneTrouble:
    "The borrowed resources cannot be brought into the cluster; the message says why and what to do.",
  CleanupTrouble: "What was borrowed cannot be taken down as it should; the message says what is in the way.",
  Cleaned: "Nothing of what was borrowed is left in the cluster.",
  Refused: "The broker refused the request; the message says why, cluster by cluster.",
  Queued: "Nothing fits now; the agent asks again when capacity is freed.",
  ProviderRefused: "The chosen cluster could not hold the resources after all; the agent asks again.",
  BrokerUnavailable: "The broker did not answer; the agent asks again.",
  WrongAnswer:
    "The broker answered with a reservation that is not this request's; the agent takes nothing of it and asks again.",
  Ended: "The reservation is over; the message says why.",
  Released: "The request was deleted and its resources were given back.",
  ReleaseUnsupported: "The broker is too old to take resources back; the reservation ends by its own time.",
  CapacityAtRisk: "The lending cluster shrank below what it lends.",
  HoldPlaced: "Capacity is held for another cluster.",
  HoldRefused: "There is no room for a reservation the broker made here; it was refused.",
  HoldRemoved: "Capacity held for another cluster is free again.",
  SliceGranted: "A Liqo slice of another cluster got what is reserved for it.",
  SliceRefused: "A Liqo slice of another cluster asks for what is not reserved for it; the message says why.",
  SliceCordoned: "A Liqo slice has no reservation any more: no new pods run for it.",
  SliceFlagged: "A Liqo slice bypasses reservations and was cordoned, as --liqo-enforce asks.",
  GuestsRemoved: "Pods of another cluster were removed, because nothing is reserved for them any more.",
  UnknownToBroker: "The broker does not know the reservation; it is kept and offered for adoption.",
} as const;

export type EventReason = keyof typeof EVENT_REASONS;
