import { LEASES, PODS, type Resource, SECRETS, SERVICE_ACCOUNTS } from "@resource-broker/kube";
import {
  ADVERTISEMENTS,
  advertisementOf,
  COMPUTED,
  knownAdvertisement,
  LEASE,
  NAMESPACE,
} from "./access-objects.ts";
import {
  type AccessRow,
  type Act,
  allowed,
  applies,
  creates,
  deletes,
  patches,
  patchesStatus,
  refused,
  replaces,
} from "./agent-acts.ts";

const rome = knownAdvertisement("rome");
const paris = knownAdvertisement("paris");
const LONG = "milan.north-1.example.eu";
const VIEW = "broker.fluidos.eu/view";
const owner = {
  apiVersion: "v1",
  kind: "ConfigMap",
  name: "gone",
  uid: "2b1f0d0e-0000-4000-8000-000000000000",
};

const publishes = (object = rome) => applies(ADVERTISEMENTS, object, true);
const changes = (object: typeof rome, body: object) => patches(ADVERTISEMENTS, object, body);
const changesResources = (resources: object) => changes(rome, { spec: { resources } });
const lists =
  (resource: Resource<unknown>, selector: { readonly fieldSelector?: string } = {}): Act =>
  (agent) =>
    agent.list(resource, { namespace: NAMESPACE, ...selector }, () => undefined);
const named = (clusterID: string, metadata: object) => {
  const object = advertisementOf(clusterID);
  return creates(ADVERTISEMENTS, { ...object, metadata: { ...object.metadata, ...metadata } });
};

export const ADVERTISEMENT_ROWS: readonly AccessRow[] = [
  ...allowed(
    ["oslo", "publishes for the first time", applies(ADVERTISEMENTS, advertisementOf("oslo"))],
    ["oslo", "creates its advertisement", creates(ADVERTISEMENTS, advertisementOf("oslo"))],
    [LONG, "publishes under a long name with dots", applies(ADVERTISEMENTS, advertisementOf(LONG))],
    ["rome", "publishes again, and what the broker computed stays", publishes(advertisementOf("rome", 2))],
    [
      "rome",
      "writes the whole object as it read it, with a new timestamp",
      replaces(ADVERTISEMENTS, "rome-adv", ({ spec, ...object }) => ({
        ...object,
        spec: { ...spec, timestamp: "2026-07-01T10:00:30Z" },
      })),
    ],
    [
      "paris",
      "publishes over the broker's picture of it, which keeps its label",
      publishes(advertisementOf("paris")),
    ],
    ["rome", "reads all advertisements", lists(ADVERTISEMENTS)],
  ),
  ...refused(
    "may write only its own ClusterAdvertisement: name rome-adv, spec.clusterID rome",
    ["rome", "creates another cluster's advertisement", creates(ADVERTISEMENTS, advertisementOf("oslo"))],
    ["rome", "creates its advertisement under another name", named("rome", { name: "rome-2-adv" })],
    [
      "rome",
      "changes another cluster's advertisement",
      changes(paris, { spec: { resources: { allocated: { cpu: "8", memory: "32Gi" } } } }),
    ],
  ),
  ...refused("may write only its own ClusterAdvertisement: name oslo-adv, spec.clusterID oslo", [
    "oslo",
    "claims its own name for another cluster",
    named("rome", { name: "oslo-adv" }),
  ]),
  ...refused(
    "may neither set nor change nor remove spec.resources.reserved and .available",
    ["oslo", "says at once what is available", creates(ADVERTISEMENTS, knownAdvertisement("oslo"))],
    ["rome", "lowers what is reserved", changesResources({ reserved: { cpu: "0", memory: "0" } })],
    [
      "rome",
      "raises what is available",
      changesResources({ available: { ...COMPUTED.available, cpu: "8" } }),
    ],
    ["rome", "removes what is reserved", changesResources({ reserved: null })],
    [
      "rome",
      "replaces the object without what the broker computed",
      replaces(ADVERTISEMENTS, "rome-adv", (object) => ({ ...object, spec: advertisementOf("rome").spec })),
    ],
    [
      "rome",
      "takes over what is reserved by force",
      publishes({
        ...rome,
        spec: { ...rome.spec, resources: { ...rome.spec.resources, reserved: { cpu: "0", memory: "0" } } },
      }),
    ],
  ),
  ...refused(
    "may not set or remove the label broker.fluidos.eu/view",
    [
      "rome",
      "marks its advertisement as the broker's",
      changes(rome, { metadata: { labels: { [VIEW]: "true" } } }),
    ],
    ["paris", "takes the broker's mark away", changes(paris, { metadata: { labels: { [VIEW]: null } } })],
    ["oslo", "creates a picture that only the broker may", named("oslo", { labels: { [VIEW]: "true" } })],
  ),
  ...refused(
    "may not change finalizers or ownerReferences",
    [
      "rome",
      "puts a finalizer on its advertisement",
      changes(rome, { metadata: { finalizers: ["example.com/stay"] } }),
    ],
    [
      "rome",
      "gives its advertisement an owner that is gone",
      changes(rome, { metadata: { ownerReferences: [owner] } }),
    ],
  ),
  ...refused("may not patch clusteradvertisements/status", [
    "rome",
    "writes the status",
    patchesStatus(rome, { score: "100.00" }, ADVERTISEMENTS),
  ]),
  ...refused("may not delete clusteradvertisements", [
    "rome",
    "deletes its advertisement",
    deletes(ADVERTISEMENTS, rome),
  ]),
];

const RENEWS = patches(LEASES, LEASE, { spec: { holderIdentity: "rome" } });

/** Everything else in the broker's namespace. */
export const OTHER_ROWS: readonly AccessRow[] = [
  ...allowed(
    [
      "rome",
      "reads the broker's Lease",
      (agent) => agent.get(LEASES, { name: LEASE.metadata.name, namespace: NAMESPACE }),
    ],
    [
      "rome",
      "follows the broker's Lease",
      lists(LEASES, { fieldSelector: `metadata.name=${LEASE.metadata.name}` }),
    ],
  ),
  ...refused("may not patch leases", ["rome", "renews the broker's Lease", RENEWS]),
  ...refused("may not delete leases", ["rome", "deletes the broker's Lease", deletes(LEASES, LEASE)]),
  ...[LEASES, SECRETS, SERVICE_ACCOUNTS, PODS].flatMap((resource) =>
    refused(`may not list ${resource.plural}`, ["rome", `lists ${resource.plural}`, lists(resource)]),
  ),
];

/** Refused by the policies alone: for agents that somebody has given more than the shipped role. */
export const PRIVILEGED_ROWS: readonly AccessRow[] = [
  ...refused("may not write the status of a ClusterAdvertisement: it is the broker's", [
    "rome",
    "writes the status of its advertisement",
    patchesStatus(rome, { score: "100.00" }, ADVERTISEMENTS),
  ]),
  ...refused(
    "may delete no ClusterAdvertisement: only the broker and people do",
    ["rome", "deletes its advertisement", deletes(ADVERTISEMENTS, rome)],
    ["rome", "deletes another cluster's advertisement", deletes(ADVERTISEMENTS, paris)],
  ),
  ...refused(
    "agents may not write the broker's Lease",
    ["rome", "renews the broker's Lease", RENEWS],
    ["rome", "deletes the broker's Lease", deletes(LEASES, LEASE)],
    [
      "rome",
      "makes a Lease that looks like the broker's",
      creates(LEASES, { ...LEASE, metadata: { ...LEASE.metadata, name: "resource-broker-2" } }),
    ],
  ),
];
