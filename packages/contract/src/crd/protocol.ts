/** How agents, people and the broker speak with each other through objects; see docs/kubernetes.md. */
const PREFIX = "broker.fluidos.eu";

export const KUBE_LABEL = {
  /** `true`: the broker's picture of the ledger. Whatever anybody else writes there is overwritten. */
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
  /** On the broker's Lease: when some cluster could last lend more than before. A new time: queued requests may try again. */
  capacityFreed: `${PREFIX}/capacity-freed`,
} as const;

/** On Reservation.status. The first three are the broker's; each of the others is written by the party it names. */
export const RESERVATION_CONDITION = {
  reserved: "Reserved",
  /** The ledger knows nothing of it. */
  orphaned: "Orphaned",
  ready: "Ready",
  requesterActive: "RequesterActive",
  requesterReleased: "RequesterReleased",
  /** True: the provider holds the capacity. False with reason Refused: it cannot, and the message says why. */
  providerHolding: "ProviderHolding",
} as const;

/** Who borrows when a person's Reservation names no requester, where a quota allows it: no cluster may be called so. */
export const NOBODY = "nobody";

/** What an agent writes of its ClusterAdvertisement, it writes under this name. */
export const AGENT_FIELD_MANAGER = "resource-broker-agent";

/** Renewed by the broker that leads while it is at work: agents learn from it that it lives, its time and its ledger. */
export const BROKER_LEASE = "resource-broker";

/** The name of a cluster's ClusterAdvertisement. */
export function clusterAdvertisementName(clusterId: string): string {
  return `${clusterId}-adv`;
}
