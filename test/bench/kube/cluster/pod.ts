import type { JsonObject } from "@resource-broker/kube-sim";
import { nodeName } from "./node.ts";
import { type Workload, workloadOf } from "./workload.ts";

const CREATED = "2026-07-01T10:00:00Z";
const STARTED = "2026-07-01T10:00:07Z";

/** Pod number `index`, about as large as the pods of real clusters: two kilobytes as protobuf, four as JSON. */
export function makePod(
  index: number,
  place: { readonly nodes: number; readonly version: number },
): JsonObject {
  const workload = workloadOf(index);
  const suffix = index.toString(36).padStart(5, "0");
  const images = Array.from({ length: workload.containers }, (_, at) => containerName(at));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadata(workload, { suffix, index, version: place.version }),
    spec: spec(workload, { images, node: nodeName(index % place.nodes), suffix }),
    status: status(workload, { images, index }),
  };
}

const containerName = (at: number): string => (at === 0 ? "app" : `helper-${at}`);

interface Identity {
  readonly suffix: string;
  readonly index: number;
  readonly version: number;
}

function metadata({ name, namespace, hash }: Workload, { suffix, index, version }: Identity): JsonObject {
  return {
    name: `${name}-${hash}-${suffix}`,
    generateName: `${name}-${hash}-`,
    namespace,
    uid: uid(index),
    resourceVersion: String(version),
    creationTimestamp: CREATED,
    labels: {
      "app.kubernetes.io/instance": name,
      "app.kubernetes.io/managed-by": "Helm",
      "app.kubernetes.io/name": name,
      "pod-template-hash": hash,
    },
    annotations: { "prometheus.io/port": "9090" },
    ownerReferences: [
      {
        apiVersion: "apps/v1",
        blockOwnerDeletion: true,
        controller: true,
        kind: "ReplicaSet",
        name: `${name}-${hash}`,
        uid: uid(index % 1500),
      },
    ],
    managedFields: [
      managed("kube-controller-manager", { "f:metadata": MANAGED_METADATA, "f:spec": MANAGED_SPEC }),
    ],
  };
}

const uid = (index: number): string => {
  const digits = (index * 2_654_435_761).toString(16).padStart(16, "0").slice(-16);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4c41-9d7e-${digits.slice(4)}`;
};

const managed = (manager: string, fieldsV1: JsonObject): JsonObject => ({
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1,
  manager,
  operation: "Update",
  time: STARTED,
});

const set = (...names: readonly string[]): JsonObject =>
  Object.fromEntries([[".", {}], ...names.map((name): [string, JsonObject] => [`f:${name}`, {}])]);

const MANAGED_METADATA: JsonObject = {
  "f:generateName": {},
  "f:labels": set("app.kubernetes.io/name", "pod-template-hash"),
};

const MANAGED_SPEC: JsonObject = {
  "f:containers": { 'k:{"name":"app"}': set("env", "image", "name", "resources") },
};

interface Placement {
  readonly images: readonly string[];
  readonly node: string;
  readonly suffix: string;
}

function spec(workload: Workload, { images, node, suffix }: Placement): JsonObject {
  const token = `kube-api-access-${suffix}`;
  return {
    volumes: [
      { name: "config", configMap: { name: workload.name, defaultMode: 420 } },
      { name: token, projected: { defaultMode: 420, sources: TOKEN_SOURCES } },
    ],
    ...(workload.hasSidecar
      ? { initContainers: [{ ...container(workload, { name: "proxy", token }), restartPolicy: "Always" }] }
      : {}),
    containers: images.map((name) => container(workload, { name, token })),
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    serviceAccountName: workload.name,
    serviceAccount: workload.name,
    nodeName: node,
    securityContext: { runAsNonRoot: true, fsGroup: 2000 },
    schedulerName: "default-scheduler",
    tolerations: ["not-ready", "unreachable"].map((condition) => ({
      key: `node.kubernetes.io/${condition}`,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 300,
    })),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: "PreemptLowerPriority",
  };
}

const TOKEN_SOURCES: readonly JsonObject[] = [
  { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
  { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
  {
    downwardAPI: {
      items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
    },
  },
];

function container(workload: Workload, { name, token }: { name: string; token: string }): JsonObject {
  const { requests, variables } = workload;
  const probe = {
    httpGet: { path: "/healthz", port: "http", scheme: "HTTP" },
    periodSeconds: 10,
    timeoutSeconds: 1,
  };
  return {
    name,
    image: `images.example.com/${workload.name}:1.27.3`,
    args: ["--listen=:8080", "--log-level=info"],
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: Array.from({ length: variables }, (_, at) => ({ name: `VARIABLE_${at}`, value: `value-${at}` })),
    resources: { limits: { memory: requests["memory"] ?? "1Gi" }, requests },
    volumeMounts: [
      { name: "config", mountPath: "/etc/app" },
      { name: token, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ],
    readinessProbe: probe,
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  };
}

const CONDITIONS = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

function status(
  workload: Workload,
  { images, index }: { images: readonly string[]; index: number },
): JsonObject {
  const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  return {
    phase: "Running",
    conditions: CONDITIONS.map((type) => ({ type, status: "True", lastTransitionTime: STARTED })),
    hostIP: "10.0.0.1",
    hostIPs: [{ ip: "10.0.0.1" }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: CREATED,
    containerStatuses: images.map((name) => containerStatus(workload, name)),
    ...(workload.hasSidecar ? { initContainerStatuses: [containerStatus(workload, "proxy")] } : {}),
    qosClass: "Burstable",
  };
}

function containerStatus({ name: image, requests }: Workload, name: string): JsonObject {
  return {
    name,
    state: { running: { startedAt: STARTED } },
    lastState: {},
    ready: true,
    restartCount: 0,
    image: `images.example.com/${image}:1.27.3`,
    imageID: `sha256:${"5f".repeat(16)}`,
    containerID: `containerd://${"c7".repeat(16)}`,
    started: true,
    allocatedResources: requests,
    resources: { requests },
  };
}
