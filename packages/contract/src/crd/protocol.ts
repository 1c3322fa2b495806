/** Names of the protocol between agents, users and the broker over Kubernetes objects; see docs/kubernetes.md. */
const PREFIX = "broker.fluidos.eu";

export const KUBE_LABEL = {
  /** `true`: the object is written by the broker from the ledger. Changes by others are overwritten. */
  view: `${PREFIX}/view`,
  /** On every Reservation the broker knows: its parties, so that each can watch its own. */
  requester: `${PREFIX}/requester`,
  target: `${PREFIX}/target`,
} as const;

export const KUBE_ANNOTATION = {
  /** On a Reservation, by its requester: `<duration> <anything new>` makes it last that long from now. */
  renew: `${PREFIX}/renew`,
  /** On the broker's Lease. */
  ledgerId: `${PREFIX}/ledger-id`,
  /**
   * On the broker's Lease: its protocol, as in the header Broker-Protocol. From 3 on, Reservations can wait. Absent: an older
   * broker. On a ClusterAdvertisement: its agent's, as in Agent-Protocol. From 3 on, it acts on notices. Absent: 2.
   */
  protocol: `${PREFIX}/protocol`,
  /** On the broker's Lease: when capacity was last freed. A new time means that queued requests should be retried. */
  capacityFreed: `${PREFIX}/capacity-freed`,
} as const;

/** On Reservation.status. The first five are the broker's; each of the others is written by the party it names. */
export const RESERVATION_CONDITION = {
  reserved: "Reserved",
  /** The ledger knows nothing of it. */
  orphaned: "Orphaned",
  ready: "Ready",
  /** The request waits in the queue; the reason says what for. */
  queued: "Queued",
  /** It is under notice: a waiting request needs its capacity. */
  preempting: "Preempting",
  requesterActive: "RequesterActive",
  requesterReleased: "RequesterReleased",
  /** True: the provider holds the capacity. False with reason Refused: it cannot, and the message says why. */
  providerHolding: "ProviderHolding",
} as const;

/** Requester of a user's Reservation without a requester, where a quota allows it. No cluster may have this ID. */
export const NOBODY = "nobody";

/** The agent's field manager on all objects, its user agent, and the value of its managed-by label. */
export const AGENT_FIELD_MANAGER = "resource-broker-agent";

/** Lease renewed by the leading broker; agents read from it that the broker is alive, its time and its ledger ID. */
export const BROKER_LEASE = "resource-broker";

/** The name of a cluster's ClusterAdvertisement. */
export function clusterAdvertisementName(clusterId: string): string {
  return `${clusterId}-adv`;
}
