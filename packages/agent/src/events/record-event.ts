import type { KubernetesObject } from "@resource-broker/base";

/** Every reason of a Kubernetes Event that the agent writes, and what it means; docs/reference/agent-events.md lists them. */
export const EVENT_REASONS = {
  Reserved: "The broker granted the request; the message names the provider.",
  Delivered: "The reserved resources can be used.",
  DataPlaneTrouble: "The reserved resources cannot be delivered; the message says why and what to do.",
  CleanupTrouble: "The delivered resources cannot be removed as planned; the message says what blocks it.",
  Cleaned: "Nothing of the reservation is left in the cluster.",
  Refused: "The broker refused the request; the message says why, cluster by cluster.",
  Queued:
    "Nothing fits now; the request waits in the broker's queue. At a broker without a queue, the agent asks again.",
  QueueFull: "As many requests wait as the policy allows; the message names the limit. The agent asks again.",
  ProviderRefused: "The provider could not hold the resources; the agent asks again.",
  Preempting:
    "The reservation is under notice: the message says when it ends and why. Also on the pods that run on its node.",
  Reprieved: "The notice was withdrawn: the reservation stays. Also on the pods that run on its node.",
  Preempted:
    "The reservation gave way to a waiting request, or its provider was drained; the request asks for its old place in the queue.",
  BrokerUnavailable: "The broker did not answer, or refuses this agent; the agent asks again.",
  WrongAnswer:
    "The broker answered with a reservation that is not this request's; the agent ignores it and asks again.",
  Ended: "The reservation has ended; the message says why.",
  Released: "The request was deleted and its reservation was released.",
  ReleaseUnsupported: "The broker is too old to release a reservation; it ends when it expires.",
  CapacityAtRisk: "The provider has less capacity than is reserved there.",
  HoldPlaced: "Capacity is held for another cluster.",
  HoldRefused: "There is no capacity for a reservation that the broker made here; it was refused.",
  HoldRemoved: "The capacity of a reservation is free again.",
  SliceGranted: "A Liqo slice of another cluster got what is reserved for it.",
  SliceRefused: "A Liqo slice of another cluster asks for what is not reserved for it; the message says why.",
  SliceCordoned: "A Liqo slice has no reservation any more; it gets no new pods.",
  SliceFlagged: "A Liqo slice bypasses reservations and was cordoned, as --liqo-enforce asks.",
  GuestsRemoved: "Pods of another cluster were removed, because nothing is reserved for them any more.",
  TenantCordoned:
    "A cluster that borrows here tried to get a certificate that is not its own; it gets nothing new.",
  PeerRefused: "What another cluster states does not count; the message says why and what a person can do.",
  PeerAddressChanged:
    "A provider states another API server or authority than Liqo uses here; the message says what a person can do.",
  AdvertisementRefused:
    "The broker does not accept what this cluster advertises; the message says why and what to do.",
  UnknownToBroker: "The broker does not know the reservation; it is kept and offered for adoption.",
} as const;

export type EventReason = keyof typeof EVENT_REASONS;

/** An event that `kubectl describe` shows. */
export interface ObjectEvent {
  readonly regarding: Pick<KubernetesObject<unknown, unknown>, "apiVersion" | "kind" | "metadata">;
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
}

export type RecordEvent = (event: ObjectEvent) => void;
