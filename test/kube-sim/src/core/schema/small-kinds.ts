import type { JsonObject } from "../../json.ts";
import { objectSchema } from "./metadata.ts";
import {
  anything,
  bytes,
  flag,
  list,
  long,
  mapOf,
  numberOrText,
  oneOf,
  struct,
  text,
  textMap,
  texts,
  time,
  whole,
} from "./terms.ts";

export const NAMESPACE_SCHEMA: JsonObject = objectSchema("A room of its own for names and rights.", {
  spec: struct("What is wanted.", {
    finalizers: texts("Names that must be taken away before the namespace goes."),
  }),
  status: struct("What is.", {
    phase: oneOf(["Active", "Terminating"], "Where it is in its life."),
    conditions: list(anything("A condition."), "What keeps it from going away."),
  }),
});

export const CONFIG_MAP_SCHEMA: JsonObject = objectSchema("Settings, as keys and values.", {
  data: textMap("Keys and their texts."),
  binaryData: mapOf(bytes(""), "Keys and their bytes, in base64."),
  immutable: flag("True: data cannot be changed any more."),
});

export const SECRET_SCHEMA: JsonObject = objectSchema("Secrets, as keys and values.", {
  type: text("What it is for; Opaque unless told otherwise."),
  data: mapOf(bytes(""), "Keys and their bytes, in base64."),
  stringData: textMap("Keys and their texts, for writing; they end up in data."),
  immutable: flag("True: data cannot be changed any more."),
});

const REFERENCE_FIELDS = {
  apiVersion: text("Group and version of the object."),
  kind: text("Kind of the object."),
  name: text("Name of the object."),
  namespace: text("Namespace of the object."),
  uid: text("Uid of the object."),
  resourceVersion: text("The version of the object that was meant."),
  fieldPath: text("The part of the object that was meant."),
};

export const SERVICE_ACCOUNT_SCHEMA: JsonObject = objectSchema("An identity for programs in pods.", {
  secrets: list(struct("A secret.", REFERENCE_FIELDS), "Secrets that its pods may use."),
  imagePullSecrets: list(struct("A secret.", { name: text("Its name.") }), "Secrets for fetching images."),
  automountServiceAccountToken: flag("False: its token is not mounted into pods."),
});

const SERVICE_PORT = struct(
  "A port of the service.",
  {
    port: whole("The number of the port."),
    name: text("Needed when there are several."),
    protocol: oneOf(["TCP", "UDP", "SCTP"], "TCP unless told otherwise."),
    targetPort: numberOrText("Number or name of the pods' port; absent: the same number."),
    nodePort: whole("The port of every node that leads here."),
    appProtocol: text("What is spoken on it."),
  },
  ["port"],
);

export const SERVICE_SCHEMA: JsonObject = objectSchema("One address for a set of pods.", {
  spec: struct("What is wanted.", {
    type: oneOf(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"], "Where it can be reached from."),
    selector: textMap("Labels of the pods behind it."),
    ports: list(SERVICE_PORT, "Its ports."),
    clusterIP: text("Its address inside the cluster; None: no address of its own."),
    clusterIPs: texts("All its addresses inside the cluster."),
    externalIPs: texts("Further addresses that lead here."),
    externalName: text("The name that it stands for, with type ExternalName."),
    sessionAffinity: text("ClientIP: a client always meets the same pod."),
    sessionAffinityConfig: anything("How long a client stays with its pod."),
    loadBalancerIP: text("Not used any more."),
    loadBalancerClass: text("Who provides the load balancer."),
    loadBalancerSourceRanges: texts("Who may use the load balancer."),
    allocateLoadBalancerNodePorts: flag("False: no node ports for the load balancer."),
    externalTrafficPolicy: text("Cluster or Local."),
    internalTrafficPolicy: text("Cluster or Local."),
    healthCheckNodePort: whole("The port for health checks."),
    publishNotReadyAddresses: flag("True: pods that are not ready are reached too."),
    ipFamilies: texts("IPv4, IPv6."),
    ipFamilyPolicy: text("One family of addresses or two."),
    trafficDistribution: text("Which pods are preferred."),
  }),
  status: struct("What is.", {
    loadBalancer: anything("Where the load balancer is reached."),
    conditions: list(anything("A condition."), "What is true of it."),
  }),
});

export const EVENT_SCHEMA: JsonObject = objectSchema("Something that happened to an object.", {
  involvedObject: struct("What it happened to.", REFERENCE_FIELDS),
  reason: text("What happened, as one word."),
  message: text("What happened, for people."),
  type: text("Normal or Warning."),
  count: whole("How often it happened."),
  firstTimestamp: time("When it happened first."),
  lastTimestamp: time("When it happened last."),
  eventTime: time("When it happened."),
  source: struct("Who says so.", { component: text("The program."), host: text("The node it runs on.") }),
  reportingComponent: text("Who says so."),
  reportingInstance: text("Which of them says so."),
  action: text("What was done."),
  related: struct("A second object that it is about.", REFERENCE_FIELDS),
  series: struct("Further times that it happened.", {
    count: whole("How often."),
    lastObservedTime: time("When last."),
  }),
});

export const LEASE_SCHEMA: JsonObject = objectSchema(
  "A claim to something that only one may have, for a time.",
  {
    spec: struct("The claim.", {
      holderIdentity: text("Who has it."),
      leaseDurationSeconds: whole("After how long without renewal others may take it."),
      acquireTime: time("When it was taken."),
      renewTime: time("When it was last renewed."),
      leaseTransitions: whole("How often it changed hands."),
      preferredHolder: text("Who should have it."),
      strategy: text("How its holder is chosen."),
    }),
  },
);

const DEFINITION_VERSION = struct(
  "One version of the kind.",
  {
    name: text("Such as v1alpha1."),
    served: flag("True: it can be used."),
    storage: flag("True for the one version that objects are kept in."),
    deprecated: flag("True: whoever uses it is warned."),
    deprecationWarning: text("The words of the warning."),
    schema: struct("What objects look like.", { openAPIV3Schema: anything("Fields, defaults and rules.") }),
    subresources: anything("status and scale."),
    additionalPrinterColumns: list(anything("A column."), "What kubectl get shows."),
    selectableFields: list(anything("A field."), "Fields that a field selector may name."),
  },
  ["name", "served", "storage"],
);

const NAMES = struct("What the kind is called.", {
  plural: text("Its name in addresses."),
  singular: text("Its name for one."),
  kind: text("Its name in objects."),
  listKind: text("Its name in lists."),
  shortNames: texts("Shorter names for kubectl."),
  categories: texts("Names for several kinds at once, such as all."),
});

export const DEFINITION_SCHEMA: JsonObject = objectSchema("A kind of object that users have added.", {
  spec: struct("What is wanted.", {
    group: text("The group of the kind; a DNS name."),
    scope: oneOf(["Namespaced", "Cluster"], "Whether its objects live in namespaces."),
    names: NAMES,
    versions: list(DEFINITION_VERSION, "Its versions; one of them is the storage version."),
    conversion: anything("How one version becomes another; None is the only way here."),
    preserveUnknownFields: flag("Not used any more; must be false."),
  }),
  status: struct("What is.", {
    acceptedNames: NAMES,
    conditions: list(anything("A condition."), "Established and NamesAccepted."),
    storedVersions: texts("Versions that objects may still be kept in."),
    observedGeneration: long("The generation that this status is about."),
  }),
});
