import type { JsonObject } from "../../json.ts";
import {
  anything,
  type Fields,
  flag,
  list,
  numberOrText,
  oneOf,
  quantities,
  struct,
  text,
  texts,
  whole,
} from "./terms.ts";

export const RESOURCES = struct("What it needs and what it may use at most.", {
  requests: quantities("What is set aside for it on its node; absent: as much as the limit."),
  limits: quantities("What it may use at most."),
  claims: list(
    struct("A claim.", { name: text("Its name."), request: text("The request in it.") }),
    "Claimed devices.",
  ),
});

const ENVIRONMENT = struct(
  "One variable.",
  {
    name: text("Name of the variable."),
    value: text("Its value."),
    valueFrom: anything("Where the value is taken from: a field of the pod, a config map or a secret."),
  },
  ["name"],
);

const PORT = struct(
  "A port the container listens on.",
  {
    containerPort: whole("The number of the port, 1 to 65535."),
    name: text("A name that services can refer to."),
    protocol: oneOf(["TCP", "UDP", "SCTP"], "TCP unless told otherwise."),
    hostPort: whole("The port of the node that leads here."),
    hostIP: text("The address of the node that the port is bound to."),
  },
  ["containerPort"],
);

const MOUNT = struct(
  "A volume in the container's file system.",
  {
    name: text("Name of one of the pod's volumes."),
    mountPath: text("Where it appears in the container."),
    subPath: text("The part of the volume that appears there."),
    subPathExpr: text("The same, with variables."),
    readOnly: flag("True: nothing can be written there."),
    recursiveReadOnly: text("Whether what is mounted below is read-only too."),
    mountPropagation: text("How later mounts travel between node and container."),
  },
  ["name", "mountPath"],
);

const PROBE = struct("How to find out whether the container is well.", {
  exec: struct("Runs a command.", { command: texts("The command and its arguments.") }),
  httpGet: struct("Asks over HTTP.", {
    path: text("The path to ask for."),
    port: numberOrText("Number or name of the port."),
    host: text("Another host than the pod."),
    scheme: text("HTTP or HTTPS."),
    httpHeaders: list(anything("A header."), "Headers to send along."),
  }),
  tcpSocket: struct("Opens a connection.", {
    port: numberOrText("Number or name of the port."),
    host: text("Another host than the pod."),
  }),
  grpc: struct("Asks over gRPC.", { port: whole("The port."), service: text("The service to ask for.") }),
  initialDelaySeconds: whole("How long to wait before the first look."),
  periodSeconds: whole("How often to look."),
  timeoutSeconds: whole("After how long a look has failed."),
  successThreshold: whole("How many good looks make it well."),
  failureThreshold: whole("How many bad looks make it ill."),
  terminationGracePeriodSeconds: whole("How long it may take to end when it is ill."),
});

const FIELDS: Fields = {
  name: text("Unique among the containers of the pod; a DNS label."),
  image: text("The image it runs."),
  imagePullPolicy: oneOf(["Always", "IfNotPresent", "Never"], "When the image is fetched."),
  command: texts("Replaces the image's entry point."),
  args: texts("Replaces the image's arguments."),
  workingDir: text("The folder it starts in."),
  ports: list(PORT, "The ports it listens on."),
  env: list(ENVIRONMENT, "Variables of its environment."),
  envFrom: list(anything("A config map or secret."), "Config maps and secrets whose keys become variables."),
  resources: RESOURCES,
  resizePolicy: list(anything("A resource and what a change of it asks for."), "What a resize asks for."),
  restartPolicy: text("Of an init container: Always makes it run beside the containers."),
  volumeMounts: list(MOUNT, "The pod's volumes that it sees."),
  volumeDevices: list(anything("A block device."), "The pod's block devices that it sees."),
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  startupProbe: PROBE,
  lifecycle: anything("What happens after its start and before its end."),
  terminationMessagePath: text("The file with its last words."),
  terminationMessagePolicy: text("Where its last words come from: File or FallbackToLogsOnError."),
  securityContext: anything("The rights it runs with."),
  stdin: flag("True: it has a standard input."),
  stdinOnce: flag("True: the standard input closes after the first visitor."),
  tty: flag("True: it has a terminal."),
};

export const CONTAINER: JsonObject = struct("One container of a pod.", FIELDS, ["name"]);
export const EPHEMERAL_CONTAINER: JsonObject = struct(
  "A container added to a running pod, for looking into it.",
  { ...FIELDS, targetContainerName: text("The container whose processes it sees.") },
  ["name"],
);

export const CONTAINER_STATUS: JsonObject = struct("What is known of one container.", {
  name: text("Name of the container."),
  ready: flag("True: it can be used."),
  started: flag("True: it has started."),
  restartCount: whole("How often it was started again."),
  image: text("The image that runs."),
  imageID: text("The very image that runs."),
  containerID: text("Its name with the container runtime."),
  state: anything("waiting, running or terminated, with details."),
  lastState: anything("How the last run ended."),
  allocatedResources: quantities("What the node has set aside for it."),
  allocatedResourcesStatus: list(anything("A device."), "The devices it was given."),
  resources: RESOURCES,
  volumeMounts: list(anything("A volume."), "What is mounted in it."),
  user: anything("The user it runs as."),
});
