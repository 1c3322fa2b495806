import type { JsonObject } from "../../json.ts";
import { objectSchema } from "./metadata.ts";
import { TAINT } from "./placement.ts";
import { anything, flag, list, long, quantities, struct, text, texts, time, whole } from "./terms.ts";

const NODE_INFO_FIELDS = {
  architecture: "The processor's architecture.",
  bootID: "Changes with every start.",
  containerRuntimeVersion: "What runs its containers.",
  kernelVersion: "Its kernel.",
  kubeProxyVersion: "Not used any more.",
  kubeletVersion: "The version kubectl shows.",
  machineID: "Names the machine.",
  operatingSystem: "linux or windows.",
  osImage: "The system it was installed with.",
  systemUUID: "Names the machine.",
};

const CONDITION = struct("One thing that is true of the node or not.", {
  type: text("What it is about: Ready, MemoryPressure …"),
  status: text("True, False or Unknown."),
  reason: text("Why, as one word."),
  message: text("Why, for people."),
  lastHeartbeatTime: time("When the node was last heard of."),
  lastTransitionTime: time("When it last changed."),
});

export const NODE_SCHEMA: JsonObject = objectSchema("A machine that pods run on.", {
  spec: struct("What is wanted.", {
    unschedulable: flag("True: no new pods; kubectl cordon sets it."),
    taints: list(TAINT, "Keep pods away that do not put up with them."),
    podCIDR: text("The addresses of its pods."),
    podCIDRs: texts("The addresses of its pods, one range for each family."),
    providerID: text("Its name with the cloud it is rented from."),
    externalID: text("Not used any more."),
    configSource: anything("Not used any more."),
  }),
  status: struct("What is.", {
    capacity: quantities("What the machine has."),
    allocatable: quantities("What pods can use of it."),
    conditions: list(CONDITION, "What is true of it."),
    addresses: list(
      struct("An address.", {
        type: text("Hostname, InternalIP, ExternalIP …"),
        address: text("The address."),
      }),
      "Where it is reached.",
    ),
    nodeInfo: struct(
      "What is installed on it.",
      Object.fromEntries(
        Object.entries(NODE_INFO_FIELDS).map(([name, description]) => [name, text(description)]),
      ),
    ),
    images: list(
      struct("An image.", { names: texts("Its names."), sizeBytes: long("Its size.") }),
      "Images it has fetched.",
    ),
    daemonEndpoints: struct("Ports of its services.", {
      kubeletEndpoint: struct("The kubelet.", { Port: whole("The port.") }),
    }),
    phase: text("Not used any more."),
    volumesInUse: texts("Volumes in use."),
    volumesAttached: list(anything("A volume."), "Volumes that are attached."),
    config: anything("Not used any more."),
    features: anything("What its runtime can do."),
    runtimeHandlers: list(anything("A runtime."), "Its runtimes."),
  }),
});
