import type { JsonObject } from "../../json.ts";
import { CONTAINER, CONTAINER_STATUS, EPHEMERAL_CONTAINER, RESOURCES } from "./container.ts";
import { objectSchema } from "./metadata.ts";
import { AFFINITY, NODE_SELECTOR_LABELS, SPREAD, TOLERATION } from "./placement.ts";
import {
  anything,
  type Fields,
  flag,
  list,
  long,
  oneOf,
  quantities,
  struct,
  text,
  time,
  whole,
} from "./terms.ts";

const VOLUME_SOURCES = [
  "awsElasticBlockStore",
  "azureDisk",
  "azureFile",
  "cephfs",
  "cinder",
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "fc",
  "flexVolume",
  "flocker",
  "gcePersistentDisk",
  "gitRepo",
  "glusterfs",
  "hostPath",
  "image",
  "iscsi",
  "nfs",
  "persistentVolumeClaim",
  "photonPersistentDisk",
  "portworxVolume",
  "projected",
  "quobyte",
  "rbd",
  "scaleIO",
  "secret",
  "storageos",
  "vsphereVolume",
] as const;

const VOLUME = struct(
  "A volume that containers can mount.",
  {
    name: text("The name that mounts refer to."),
    ...Object.fromEntries(VOLUME_SOURCES.map((name) => [name, anything(`A volume of this kind: ${name}.`)])),
  },
  ["name"],
);

const reference = (description: string): JsonObject => struct(description, { name: text("Its name.") });

const SPEC: Fields = {
  containers: list(CONTAINER, "The containers that run together; at least one."),
  initContainers: list(
    CONTAINER,
    "Containers that run to their end, one after the other, before the others start.",
  ),
  ephemeralContainers: list(EPHEMERAL_CONTAINER, "Containers added later, for looking into the pod."),
  nodeName: text("The node it runs on; empty until a scheduler has chosen one."),
  nodeSelector: NODE_SELECTOR_LABELS,
  affinity: AFFINITY,
  tolerations: list(TOLERATION, "The taints of nodes that it puts up with."),
  topologySpreadConstraints: list(SPREAD, "How evenly its like are spread."),
  schedulerName: text("The scheduler that chooses its node."),
  schedulingGates: list(reference("A gate."), "While any is left, no node is chosen."),
  priority: whole("Its weight against other pods."),
  priorityClassName: text("Where its weight comes from."),
  preemptionPolicy: text("Whether pods of less weight make room for it."),
  restartPolicy: oneOf(["Always", "OnFailure", "Never"], "When an ended container starts again."),
  terminationGracePeriodSeconds: long("How long it may take to end."),
  activeDeadlineSeconds: long("How long it may run at all."),
  serviceAccountName: text("The identity it runs with."),
  serviceAccount: text("The older name of serviceAccountName."),
  automountServiceAccountToken: flag("False: the identity's token is not mounted."),
  imagePullSecrets: list(reference("A secret."), "Secrets for fetching images."),
  volumes: list(VOLUME, "What its containers can mount."),
  resources: RESOURCES,
  overhead: quantities("What the pod takes beside its containers."),
  hostNetwork: flag("True: it uses the node's network."),
  hostPID: flag("True: it sees the node's processes."),
  hostIPC: flag("True: it shares memory with the node."),
  hostUsers: flag("False: it has user numbers of its own."),
  hostname: text("Its host name."),
  subdomain: text("The domain under the cluster's that its name is in."),
  setHostnameAsFQDN: flag("True: its host name includes the domain."),
  shareProcessNamespace: flag("True: its containers see each other's processes."),
  securityContext: anything("The rights that all its containers run with."),
  dnsPolicy: text("How names are looked up."),
  dnsConfig: anything("Details of how names are looked up."),
  hostAliases: list(anything("An address and its names."), "More lines for its hosts file."),
  enableServiceLinks: flag("False: services do not become variables."),
  readinessGates: list(anything("A condition."), "Further conditions that it needs to be ready."),
  runtimeClassName: text("The runtime it is started by."),
  resourceClaims: list(anything("A claim."), "Claims of devices."),
  os: reference("The operating system it needs."),
};

const CONDITION = struct("One thing that is true of the pod or not.", {
  type: text("What it is about: PodScheduled, Ready …"),
  status: text("True, False or Unknown."),
  reason: text("Why, as one word."),
  message: text("Why, for people."),
  lastProbeTime: time("When it was last looked at."),
  lastTransitionTime: time("When it last changed."),
  observedGeneration: long("The generation it was found for."),
});

const address = (description: string): JsonObject =>
  list(struct("An address.", { ip: text("The address.") }), description);

const STATUS: Fields = {
  phase: oneOf(["Pending", "Running", "Succeeded", "Failed", "Unknown"], "Where it is in its life."),
  conditions: list(CONDITION, "What is true of it."),
  reason: text("Why it is in this phase, as one word."),
  message: text("Why it is in this phase, for people."),
  hostIP: text("The address of its node."),
  hostIPs: address("All addresses of its node."),
  podIP: text("Its own address."),
  podIPs: address("All its addresses."),
  startTime: time("When its node took it on."),
  containerStatuses: list(CONTAINER_STATUS, "What is known of its containers."),
  initContainerStatuses: list(CONTAINER_STATUS, "What is known of its init containers."),
  ephemeralContainerStatuses: list(CONTAINER_STATUS, "What is known of its ephemeral containers."),
  qosClass: oneOf(["Guaranteed", "Burstable", "BestEffort"], "How its node treats it when room gets scarce."),
  nominatedNodeName: text("The node that others are making room on for it."),
  resize: text("How far a change of its resources is."),
  resourceClaimStatuses: list(anything("A claim."), "What is known of its claims."),
  observedGeneration: long("The generation that this status is about."),
};

export const POD_SCHEMA: JsonObject = objectSchema("Containers that run together on one node.", {
  spec: struct("What is wanted.", SPEC, ["containers"]),
  status: struct("What is.", STATUS),
});
