/** The objects that the table of kubectl commands works on. */

const READY = {
  type: "Ready",
  status: "True",
  reason: "KubeletReady",
  message: "kubelet is posting ready status",
  lastHeartbeatTime: "2026-01-05T12:00:00Z",
  lastTransitionTime: "2026-01-05T12:00:00Z",
};

export function node(name: string, address: string, labels: Readonly<Record<string, string>>): object {
  const amounts = { cpu: "4", memory: "16Gi", pods: "110" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [READY],
      addresses: [
        { type: "InternalIP", address },
        { type: "Hostname", address: name },
      ],
      nodeInfo: {
        architecture: "amd64",
        bootID: "b",
        containerRuntimeVersion: "containerd://2.0.0",
        kernelVersion: "6.8.0",
        kubeProxyVersion: "",
        kubeletVersion: "v1.32.0",
        machineID: "m",
        operatingSystem: "linux",
        osImage: "Simulated Linux",
        systemUUID: "s",
      },
    },
  };
}

export function pod(name: string, cpu: string): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "demo", labels: { app: name } },
    spec: {
      containers: [
        {
          name: "main",
          image: "registry.example/shop:1.0",
          resources: { requests: { cpu, memory: "64Mi" } },
        },
      ],
    },
  };
}

export function configMap(
  name: string,
  data: Readonly<Record<string, string>>,
  metadata: object = {},
): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "demo", ...metadata }, data };
}

export const RESOURCE_REQUEST = {
  apiVersion: "rear.fluidos.eu/v1alpha1",
  kind: "ResourceRequest",
  metadata: { name: "more", namespace: "demo" },
  spec: { requestedCPU: "500m", requestedMemory: "512Mi" },
};

export const EVENT = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "shop.1", namespace: "demo" },
  involvedObject: { apiVersion: "v1", kind: "Pod", name: "shop", namespace: "demo" },
  type: "Normal",
  reason: "Greeted",
  message: "somebody said hello",
  source: { component: "visitor" },
  firstTimestamp: "2026-01-05T12:00:00Z",
  lastTimestamp: "2026-01-05T12:00:00Z",
  count: 3,
};
