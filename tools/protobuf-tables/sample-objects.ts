/** Objects that Go is asked to write. A pod and a node with every field set are added by the Go program itself. */

interface SampleObject {
  readonly name: string;
  readonly kind: "Pod" | "Node";
  readonly object: object;
}

const WEB_POD = {
  metadata: {
    name: "web-6d4b75cb6d-hj7ks",
    generateName: "web-6d4b75cb6d-",
    namespace: "shop",
    uid: "5a0e3c52-7f0d-4c41-9d7e-0f6f4bb6b1a4",
    resourceVersion: "4712",
    creationTimestamp: "2026-07-01T10:00:00Z",
    labels: { app: "web", "app.kubernetes.io/part-of": "shop", "pod-template-hash": "6d4b75cb6d" },
    annotations: { "example.com/note": "größer als 1 € – 漢字 🚀", "example.com/empty": "" },
    ownerReferences: [
      {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        name: "web-6d4b75cb6d",
        uid: "0a6ea3a4-32bb-4d6e-b1ab-7d7a2d8f7a51",
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    managedFields: [
      {
        manager: "kube-controller-manager",
        operation: "Update",
        apiVersion: "v1",
        time: "2026-07-01T10:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
          "f:spec": { "f:containers": {} },
        },
      },
    ],
  },
  spec: {
    volumes: [
      { name: "config", configMap: { name: "web", defaultMode: 420, items: [{ key: "a", path: "b" }] } },
      { name: "cache", emptyDir: { sizeLimit: "1Gi" } },
      {
        name: "token",
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
            { downwardAPI: { items: [{ path: "ns", fieldRef: { fieldPath: "metadata.namespace" } }] } },
          ],
        },
      },
    ],
    containers: [
      {
        name: "web",
        image: "web:1.2.3",
        args: ["--listen", ""],
        ports: [{ containerPort: 8080, protocol: "TCP" }],
        env: [
          { name: "PLAIN", value: "x" },
          { name: "LIMIT", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
          { name: "SECRET", valueFrom: { secretKeyRef: { name: "web", key: "password", optional: false } } },
        ],
        resources: { requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "512Mi" } },
        readinessProbe: { httpGet: { path: "/ready", port: "http", scheme: "HTTP" }, periodSeconds: 5 },
        livenessProbe: { tcpSocket: { port: 8080 }, failureThreshold: 3 },
        securityContext: { runAsNonRoot: true, runAsUser: 1000, capabilities: { drop: ["ALL"] } },
      },
    ],
    nodeName: "node-0001",
    tolerations: [
      {
        key: "node.kubernetes.io/not-ready",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      },
    ],
    terminationGracePeriodSeconds: 30,
    securityContext: {},
    priority: -10,
  },
  status: {
    phase: "Running",
    conditions: [
      {
        type: "Ready",
        status: "True",
        lastProbeTime: null,
        lastTransitionTime: "2026-07-01T10:00:09Z",
      },
      { type: "PodScheduled", status: "True" },
    ],
    podIP: "10.1.2.3",
    podIPs: [{ ip: "10.1.2.3" }],
    startTime: "2026-07-01T10:00:01Z",
    containerStatuses: [
      {
        name: "web",
        state: { running: { startedAt: "2026-07-01T10:00:05Z" } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image: "web:1.2.3",
        imageID: "sha256:0123",
        started: true,
        allocatedResources: { cpu: "250m", memory: "512Mi" },
        resources: { requests: { cpu: "250m", memory: "512Mi" } },
      },
    ],
    qosClass: "Burstable",
  },
};

const GUEST_POD = {
  metadata: {
    name: "train-0",
    namespace: "research-rome",
    uid: "b7a4",
    resourceVersion: "4713",
    deletionTimestamp: "2026-07-02T00:00:00Z",
    deletionGracePeriodSeconds: 30,
    finalizers: ["example.com/keep"],
    labels: {
      "liqo.io/managed-by": "shadowpod",
      "offloading.liqo.io/origin": "rome",
      "offloading.liqo.io/nodename": "rsv-rome-abcdefghijklmnop",
      "liqo.io/creator-user": "rsv-rome-abcdefghijklmnop-0f3a",
    },
  },
  spec: {
    containers: [{ name: "train", resources: { requests: { "nvidia.com/gpu": "2", cpu: "8" } } }],
    nodeSelector: { "kubernetes.io/hostname": "gpu-1" },
    schedulingGates: [{ name: "example.com/quota" }],
  },
  status: {
    phase: "Pending",
    conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
  },
};

const PICKY_POD = {
  metadata: { name: "picky", namespace: "default", resourceVersion: "4714" },
  spec: {
    containers: [{ name: "a" }, { name: "b", image: "b", stdin: true }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "liqo.io/type", operator: "In", values: ["virtual-node", ""] }] },
            { matchExpressions: [{ key: "liqo.io/remote-cluster-id", operator: "Exists" }] },
            {},
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            preference: { matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] },
          },
        ],
      },
    },
  },
};

const condition = (type: string, status: string) => ({
  type,
  status,
  lastHeartbeatTime: "2026-07-01T10:00:00Z",
  lastTransitionTime: "2026-06-01T10:00:00Z",
  reason: `Kubelet${type}`,
  message: "kubelet says so",
});

const amounts = { cpu: "16", memory: "65808420Ki", pods: "110", "ephemeral-storage": "203056560Ki" };

const NODES: readonly SampleObject[] = [
  {
    name: "a worker",
    kind: "Node",
    object: {
      metadata: {
        name: "node-0001",
        resourceVersion: "9001",
        labels: { "kubernetes.io/hostname": "node-0001", "topology.kubernetes.io/region": "eu-west-1" },
      },
      spec: { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"], providerID: "aws:///eu-west-1a/i-0123" },
      status: {
        capacity: amounts,
        allocatable: { ...amounts, cpu: "15890m" },
        conditions: [condition("MemoryPressure", "False"), condition("Ready", "True")],
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
        images: [{ names: ["web@sha256:0123", "web:1.2.3"], sizeBytes: 12_345_678_901 }],
      },
    },
  },
  {
    name: "a node that is drained",
    kind: "Node",
    object: {
      metadata: { name: "node-0002" },
      spec: {
        unschedulable: true,
        taints: [
          {
            key: "node.kubernetes.io/unschedulable",
            effect: "NoSchedule",
            timeAdded: "2026-07-01T10:00:00Z",
          },
          { key: "gpu", value: "a100", effect: "NoExecute" },
        ],
      },
    },
  },
  {
    name: "a virtual node",
    kind: "Node",
    object: { metadata: { name: "liqo-paris", labels: { "liqo.io/type": "virtual-node" } } },
  },
];

const pod = (name: string, object: object): SampleObject => ({ name, kind: "Pod", object });

/** The first three pods are also asked for as a list and as a watch. */
export const SAMPLE_OBJECTS: readonly SampleObject[] = [
  pod("a pod of a Deployment", WEB_POD),
  pod("a guest's pod that is being deleted", GUEST_POD),
  pod("a pod that chooses its node", PICKY_POD),
  pod("an empty pod", {}),
  ...NODES,
];
