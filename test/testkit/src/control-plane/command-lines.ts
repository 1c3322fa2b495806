import { join } from "node:path";
import type { CredentialFiles } from "./credentials.ts";

const HOST = "127.0.0.1";

/** Only what our objects rely on. The others would wait for nodes that nobody runs. */
const CONTROLLERS = [
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "certificatesigningrequest-signing-controller",
  // Checks the types in the rules of admission policies, which else are found out when a rule is first asked.
  "validatingadmissionpolicy-status-controller",
];

export interface Ports {
  readonly api: number;
  readonly etcd: number;
  readonly etcdPeer: number;
}

export interface ControlPlaneFiles {
  readonly directory: string;
  /** Where clients find the API server. Another than the loopback: a cluster with nodes, whose pods serve webhooks. */
  readonly address: string;
  readonly ports: Ports;
  readonly files: CredentialFiles;
  /** The admin's. */
  readonly kubeconfigFile: string;
}

export function etcdFlags({ directory, ports }: ControlPlaneFiles): string[] {
  const own = `http://${HOST}:${ports.etcd}`;
  const peer = `http://${HOST}:${ports.etcdPeer}`;
  return [
    `--data-dir=${join(directory, "etcd")}`,
    `--listen-client-urls=${own}`,
    `--advertise-client-urls=${own}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // Survives a killed process, which is all that tests do to it.
    "--unsafe-no-fsync",
    // It is alone, and waits this long for others before it leads.
    "--heartbeat-interval=10",
    "--election-timeout=100",
    "--log-level=warn",
  ];
}

function hasNodes(address: string): boolean {
  return address !== HOST;
}

export function apiServerFlags({ address, ports, files }: ControlPlaneFiles): string[] {
  const own = hasNodes(address)
    ? // Nobody routes the addresses of Services: webhooks are called at their pods.
      ["--bind-address=0.0.0.0", "--enable-aggregator-routing=true"]
    : // It taints every new node until a controller sees it ready, and that controller is not among ours.
      [`--bind-address=${HOST}`, "--disable-admission-plugins=TaintNodesByCondition"];
  return [
    ...own,
    `--etcd-servers=http://${HOST}:${ports.etcd}`,
    `--advertise-address=${address}`,
    `--secure-port=${ports.api}`,
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--client-ca-file=${files.ca}`,
    "--authorization-mode=RBAC",
    "--allow-privileged=true",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${files.tokenPublicKey}`,
    `--service-account-signing-key-file=${files.tokenKey}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    // It would refuse to publish a loopback address as the one that pods reach.
    "--endpoint-reconciler-type=none",
    "--profiling=false",
  ];
}

export function controllerManagerFlags({ address, files, kubeconfigFile }: ControlPlaneFiles): string[] {
  return [
    `--kubeconfig=${kubeconfigFile}`,
    ...(hasNodes(address) ? [] : [`--controllers=${CONTROLLERS.join(",")}`]),
    `--service-account-private-key-file=${files.tokenKey}`,
    `--root-ca-file=${files.ca}`,
    `--cluster-signing-cert-file=${files.ca}`,
    `--cluster-signing-key-file=${files.caKey}`,
    "--leader-elect=false",
    "--secure-port=0",
    // A namespace with many kinds is emptied in one go instead of twenty requests a second.
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
    "--profiling=false",
  ];
}
