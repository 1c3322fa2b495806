/** Every reason of a Kubernetes Event that the agent writes, and what it means; docs/reference/agent-events.md lists them. */
export const EVENT_REASONS = {
  Reserved: "The broker granted the request; the message names the cluster that lends.",
  Delivered: "The borrowed resources can be used.",
  Refused: "The broker refused the request; the message says why, cluster by cluster.",
  Queued: "Nothing fits now; the agent asks again when capacity is freed.",
  ProviderRefused: "The chosen cluster could not hold the resources after all; the agent asks again.",
  BrokerUnavailable: "The broker did not answer; the agent asks again.",
  Ended: "The reservation is over; the message says why.",
  Released: "The request was deleted and its resources were given back.",
  ReleaseUnsupported: "The broker is too old to take resources back; the reservation ends by its own time.",
  CapacityAtRisk: "The lending cluster shrank below what it lends.",
  HoldPlaced: "Capacity is held for another cluster.",
  HoldRefused: "There is no room for a reservation the broker made here; it was refused.",
  HoldRemoved: "Capacity held for another cluster is free again.",
  UnknownToBroker: "The broker does not know the reservation; it is kept and offered for adoption.",
} as const;

export type EventReason = keyof typeof EVENT_REASONS;
