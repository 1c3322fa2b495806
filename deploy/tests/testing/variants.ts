import type { ChartName, Release } from "./helm.ts";

/** A way to install a chart. */
export interface Variant {
  readonly name: string;
  readonly chart: ChartName;
  readonly values: Readonly<Record<string, unknown>>;
}

const ROME = { clusterID: "rome", broker: { urls: ["https://broker.example:8443"] } };

const MONITORED = {
  serviceMonitor: { enabled: true, interval: "15s", labels: { release: "prometheus" } },
  prometheusRule: { enabled: true, runbookBaseURL: "https://docs.example/resource-broker/" },
  grafanaDashboards: { enabled: true },
};

const PINNED = {
  image: { digest: `sha256:${"0".repeat(64)}` },
  imagePullSecrets: [{ name: "registry" }],
  commonLabels: { team: "platform" },
  podLabels: { tier: "gold" },
  podAnnotations: { note: "yes" },
  priorityClassName: "system-cluster-critical",
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "dedicated", operator: "Exists" }],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", labelSelector: {} },
  ],
  serviceAccount: { annotations: { "example.com/identity": "broker" } },
  log: { level: "debug", format: "pretty" },
};

/** As the guide has it installed. */
export function releaseOf(chart: ChartName): Pick<Release, "release" | "namespace"> {
  return chart === "broker"
    ? { release: "resource-broker", namespace: "resource-broker-system" }
    : { release: "resource-broker-agent", namespace: "rear-agent" };
}

/** Together they use every template and every condition in it. */
export const VARIANTS: readonly Variant[] = [
  { name: "a broker as it comes", chart: "broker", values: {} },
  {
    name: "a broker on PostgreSQL with everything that watches it",
    chart: "broker",
    values: {
      ...MONITORED,
      replicas: 2,
      store: {
        type: "postgres",
        postgres: { host: "db.example", passwordSecret: { name: "db" }, caSecret: { name: "db-ca" } },
      },
      service: { type: "LoadBalancer", nodePort: 30443, loadBalancerSourceRanges: ["10.0.0.0/8"] },
      tls: {
        crlSecretName: "revoked",
        certManager: { dnsNames: ["broker.example"], ipAddresses: ["10.1.2.3"] },
      },
      dashboard: { enabled: true, exposed: true },
      networkPolicy: { apiFrom: [{ ipBlock: { cidr: "10.0.0.0/8" } }] },
      crds: { install: false },
    },
  },
  {
    name: "a broker that is all objects",
    chart: "broker",
    values: {
      replicas: 3,
      interfaces: ["kubernetes"],
      store: { type: "kubernetes" },
      crds: { install: false },
    },
  },
  {
    name: "a broker without rights, on a claim that is there",
    chart: "broker",
    values: {
      ...PINNED,
      views: false,
      tls: { certManager: { enabled: false }, minVersion: "1.3" },
      adminCA: { enabled: false },
      store: { sqlite: { existingClaim: "1", retain: false } },
      dashboard: { enabled: true },
      policy: { weights: { resources: 0.5, cost: 0.5 }, staleness: "2m" },
      podDisruptionBudget: { enabled: false },
      networkPolicy: { enabled: false },
      extraArgs: ["--audit-retention=720h"],
      crds: { install: false },
    },
  },
  {
    name: "a broker that signs for agents itself",
    chart: "broker",
    values: {
      views: false,
      tls: { certManager: { enabled: false } },
      enrollment: { secretName: "broker-enrollment", lifetime: "240h" },
      adminCA: { existingSecret: "broker-server-tls", key: "admin-ca.crt" },
      crds: { install: false },
    },
  },
  { name: "an agent as it comes", chart: "agent", values: ROME },
  {
    name: "an agent through objects, with what watches it",
    chart: "agent",
    values: {
      ...ROME,
      ...MONITORED,
      broker: { transport: "kubernetes" },
      replicas: 2,
      crds: { install: false },
    },
  },
  {
    name: "an agent that lends and borrows through Liqo",
    chart: "agent",
    values: {
      ...ROME,
      // As YAML reads it, this is a number.
      clusterID: "42",
      ...PINNED,
      image: { tag: "0.1.0-liqoctl" },
      liqo: { enabled: true, enforce: true, borrow: { enabled: true, networking: false } },
      prices: { configMap: "prices" },
      crds: { install: false },
    },
  },
  {
    name: "an agent with a certificate that somebody brings",
    chart: "agent",
    values: {
      ...ROME,
      broker: { urls: ["https://one.example:8443", "https://two.example"] },
      tls: { certManager: { enabled: false } },
      objectsNamespace: "",
      clusterName: "Roma, Italia",
      clusterEndpoint: "https://rome.example:6443",
      clusterLabels: { tier: "gold", "example.com/site": "north" },
      toleratedTaints: ["dedicated=batch:NoSchedule"],
      gpuResources: [],
      extendedResources: ["example.com/fpga"],
      prices: { cpu: "0.04", memory: "0.005", currency: "EUR" },
      crds: { install: false },
    },
  },
  {
    name: "an agent that joins, and peers by relay",
    chart: "agent",
    values: {
      join: { existingSecret: "resource-broker-join" },
      liqo: {
        mode: "relay",
        warmPeers: ["paris", "tokyo"],
        peerFingerprints: { paris: `SHA256:${"a".repeat(43)}` },
      },
      crds: { install: false },
    },
  },
];
