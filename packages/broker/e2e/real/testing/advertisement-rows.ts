import { LEASES, PODS, SECRETS, SERVICE_ACCOUNTS } from "@resource-broker/kube";
import {
  ADVERTISEMENTS,
  advertisementOf,
  COMPUTED,
  knownAdvertisement,
  LEASE,
  NAMESPACE,
} from "./access-objects.ts";
import { type AccessRow, applies, creates, deletes, patches, patchesStatus, replaces } from "./agent-acts.ts";

const rome = knownAdvertisement("rome");
const paris = knownAdvertisement("paris");
const VIEW = "broker.fluidos.eu/view";
const OWN = "may write only its own ClusterAdvertisement: name rome-adv, spec.clusterID rome";
const COMPUTES = "may neither set nor change nor remove spec.resources.reserved and .available";
const LABEL = "may not set or remove the label broker.fluidos.eu/view";
const TIES = "may not change finalizers or ownerReferences";
const owner = {
  apiVersion: "v1",
  kind: "ConfigMap",
  name: "gone",
  uid: "2b1f0d0e-0000-4000-8000-000000000000",
};

const with_ = (resources: object) => ({ spec: { resources } });

export const ADVERTISEMENT_ROWS: readonly AccessRow[] = [
  {
    name: "publishes for the first time",
    by: "oslo",
    does: applies(ADVERTISEMENTS, advertisementOf("oslo")),
  },
  { name: "creates its advertisement", by: "oslo", does: creates(ADVERTISEMENTS, advertisementOf("oslo")) },
  {
    name: "publishes under a long name with dots",
    by: "milan.north-1.example.eu",
    does: applies(ADVERTISEMENTS, advertisementOf("milan.north-1.example.eu")),
  },
  {
    name: "publishes again, and what the broker computed stays",
    by: "rome",
    does: applies(ADVERTISEMENTS, advertisementOf("rome", 2), true),
  },
  {
    name: "writes the whole object as it read it, with a new timestamp",
    by: "rome",
    does: replaces(ADVERTISEMENTS, "rome-adv", ({ spec, ...object }) => ({
      ...object,
      spec: { ...spec, timestamp: "2026-07-01T10:00:30Z" },
    })),
  },
  {
    name: "publishes over the broker's picture of it, which keeps its label",
    by: "paris",
    does: applies(ADVERTISEMENTS, advertisementOf("paris"), true),
  },
  {
    name: "reads all advertisements",
    by: "rome",
    does: (agent) => agent.list(ADVERTISEMENTS, { namespace: NAMESPACE }, () => undefined),
  },
  {
    name: "creates another cluster's advertisement",
    by: "rome",
    does: creates(ADVERTISEMENTS, advertisementOf("oslo")),
    refusal: OWN,
  },
  {
    name: "creates its advertisement under another name",
    by: "rome",
    does: creates(ADVERTISEMENTS, {
      ...advertisementOf("rome"),
      metadata: { name: "rome-2-adv", namespace: NAMESPACE },
    }),
    refusal: OWN,
  },
  {
    name: "claims its own name for another cluster",
    by: "oslo",
    does: creates(ADVERTISEMENTS, {
      ...advertisementOf("rome"),
      metadata: { name: "oslo-adv", namespace: NAMESPACE },
    }),
    refusal: "may write only its own ClusterAdvertisement: name oslo-adv, spec.clusterID oslo",
  },
  {
    name: "changes another cluster's advertisement",
    by: "rome",
    does: patches(ADVERTISEMENTS, paris, with_({ allocated: { cpu: "8", memory: "32Gi" } })),
    refusal: OWN,
  },
  {
    name: "says at once what is available",
    by: "oslo",
    does: creates(ADVERTISEMENTS, {
      ...knownAdvertisement("oslo"),
    }),
    refusal: COMPUTES,
  },
  {
    name: "lowers what is reserved",
    by: "rome",
    does: patches(ADVERTISEMENTS, rome, with_({ reserved: { cpu: "0", memory: "0" } })),
    refusal: COMPUTES,
  },
  {
    name: "raises what is available",
    by: "rome",
    does: patches(ADVERTISEMENTS, rome, with_({ available: { ...COMPUTED.available, cpu: "8" } })),
    refusal: COMPUTES,
  },
  {
    name: "removes what is reserved",
    by: "rome",
    does: patches(ADVERTISEMENTS, rome, with_({ reserved: null })),
    refusal: COMPUTES,
  },
  {
    name: "replaces the object without what the broker computed",
    by: "rome",
    does: replaces(ADVERTISEMENTS, "rome-adv", (object) => ({
      ...object,
      spec: advertisementOf("rome").spec,
    })),
    refusal: COMPUTES,
  },
  {
    name: "takes over what is reserved by force",
    by: "rome",
    does: applies(
      ADVERTISEMENTS,
      {
        ...rome,
        spec: { ...rome.spec, resources: { ...rome.spec.resources, reserved: { cpu: "0", memory: "0" } } },
      },
      true,
    ),
    refusal: COMPUTES,
  },
  {
    name: "writes the status",
    by: "rome",
    does: patchesStatus(rome, { score: "100.00" }, ADVERTISEMENTS),
    refusal: "may not patch clusteradvertisements/status",
  },
  {
    name: "marks its advertisement as the broker's",
    by: "rome",
    does: patches(ADVERTISEMENTS, rome, { metadata: { labels: { [VIEW]: "true" } } }),
    refusal: LABEL,
  },
  {
    name: "takes the broker's mark away",
    by: "paris",
    does: patches(ADVERTISEMENTS, paris, { metadata: { labels: { [VIEW]: null } } }),
    refusal: LABEL,
  },
  {
    name: "creates a picture that only the broker may",
    by: "oslo",
    does: creates(ADVERTISEMENTS, {
      ...advertisementOf("oslo"),
      metadata: { ...advertisementOf("oslo").metadata, labels: { [VIEW]: "true" } },
    }),
    refusal: LABEL,
  },
  {
    name: "puts a finalizer on its advertisement",
    by: "rome",
    does: patches(ADVERTISEMENTS, rome, { metadata: { finalizers: ["example.com/stay"] } }),
    refusal: TIES,
  },
  {
    name: "gives its advertisement an owner that is gone",
    by: "rome",
    does: patches(ADVERTISEMENTS, rome, { metadata: { ownerReferences: [owner] } }),
    refusal: TIES,
  },
  {
    name: "deletes its advertisement",
    by: "rome",
    does: deletes(ADVERTISEMENTS, rome),
    refusal: "may not delete clusteradvertisements",
  },
];

/** Everything else in the broker's namespace. */
export const OTHER_ROWS: readonly AccessRow[] = [
  {
    name: "reads the broker's Lease",
    by: "rome",
    does: (agent) => agent.get(LEASES, { name: LEASE.metadata.name, namespace: NAMESPACE }),
  },
  {
    name: "follows the broker's Lease",
    by: "rome",
    does: (agent) =>
      agent.list(
        LEASES,
        { namespace: NAMESPACE, fieldSelector: `metadata.name=${LEASE.metadata.name}` },
        () => undefined,
      ),
  },
  {
    name: "renews the broker's Lease",
    by: "rome",
    does: patches(LEASES, LEASE, { spec: { holderIdentity: "rome" } }),
    refusal: "may not patch leases",
  },
  {
    name: "deletes the broker's Lease",
    by: "rome",
    does: deletes(LEASES, LEASE),
    refusal: "may not delete leases",
  },
  ...[LEASES, SECRETS, SERVICE_ACCOUNTS, PODS].map((resource) => ({
    name: `lists ${resource.plural}`,
    by: "rome",
    does: (agent: Parameters<AccessRow["does"]>[0]) =>
      agent.list<unknown>(resource, { namespace: NAMESPACE }, () => undefined),
    refusal: `may not list ${resource.plural}`,
  })),
];

/** Refused by the policies alone: for agents that somebody has given more than the shipped role. */
export const PRIVILEGED_ROWS: readonly AccessRow[] = [
  {
    name: "writes the status of its advertisement",
    by: "rome",
    does: patchesStatus(rome, { score: "100.00" }, ADVERTISEMENTS),
    refusal: "may not write the status of a ClusterAdvertisement: it is the broker's",
  },
  {
    name: "deletes its advertisement",
    by: "rome",
    does: deletes(ADVERTISEMENTS, rome),
    refusal: "may delete no ClusterAdvertisement: only the broker and people do",
  },
  {
    name: "deletes another cluster's advertisement",
    by: "rome",
    does: deletes(ADVERTISEMENTS, paris),
    refusal: "may delete no ClusterAdvertisement: only the broker and people do",
  },
  {
    name: "renews the broker's Lease",
    by: "rome",
    does: patches(LEASES, LEASE, { spec: { holderIdentity: "rome" } }),
    refusal: "agents may not write the broker's Lease",
  },
  {
    name: "deletes the broker's Lease",
    by: "rome",
    does: deletes(LEASES, LEASE),
    refusal: "agents may not write the broker's Lease",
  },
  {
    name: "makes a Lease that looks like the broker's",
    by: "rome",
    does: creates(LEASES, { ...LEASE, metadata: { ...LEASE.metadata, name: "resource-broker-2" } }),
    refusal: "agents may not write the broker's Lease",
  },
];
