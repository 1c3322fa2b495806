import { readFile } from "node:fs/promises";
import type { JsonObject } from "@resource-broker/kube-sim";

/** kwok plays the kubelet of nodes with this mark, and of no others: virtual nodes are Liqo's. */
const KWOK_ANNOTATION = { "kwok.x-k8s.io/node": "fake" };

interface SeededNode {
  readonly kind?: unknown;
  readonly metadata?: JsonObject & { readonly annotations?: JsonObject };
  readonly status?: JsonObject;
}

/** The objects with their nodes in kwok's hands, which says when they are ready. */
export function withFakeNodes(objects: readonly JsonObject[]): JsonObject[] {
  return objects.map((object) => {
    if (object["kind"] !== "Node") return object;
    const { metadata, status } = object as SeededNode;
    const { conditions: _, ...rest } = status ?? {};
    const annotations = { ...metadata?.annotations, ...KWOK_ANNOTATION };
    return { ...object, metadata: { ...metadata, annotations }, status: rest };
  });
}

/**
 * After an outage of its API server Kubernetes says of each pod on a node that was silent that it is not ready, and leaves
 * it to the kubelet to say otherwise. kwok's own Stages look at pods that are not running yet only.
 */
const READY_AGAIN = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: pod-ready-again
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchExpressions:
    - { key: .metadata.deletionTimestamp, operator: DoesNotExist }
    - { key: .status.phase, operator: In, values: [Running] }
    - { key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: In, values: ["False"] }
  delay:
    durationMilliseconds: 1000
  next:
    statusTemplate: |
      conditions:
      - { type: Ready, status: "True", lastTransitionTime: {{ Now | Quote }} }
`;

/** What kwok is configured with: its own Stages, and one more. */
export async function stagesText(file: string): Promise<string> {
  return [await readFile(file, "utf8"), READY_AGAIN].join("\n---\n");
}

export interface KwokFiles {
  readonly stagesFile: string;
  readonly kubeconfigFile: string;
  /** Of its own API. */
  readonly port: number;
  /** The first two numbers of every pod's address: `10.101`. */
  readonly network: string;
}

export function kwokFlags({ stagesFile, kubeconfigFile, port, network }: KwokFiles): string[] {
  const [[key, value] = ["", ""]] = Object.entries(KWOK_ANNOTATION);
  return [
    `--config=${stagesFile}`,
    `--kubeconfig=${kubeconfigFile}`,
    "--manage-all-nodes=false",
    `--manage-nodes-with-annotation-selector=${key}=${value}`,
    "--node-lease-duration-seconds=40",
    `--cidr=${network}.0.0/16`,
    `--node-ip=${network}.255.1`,
    `--server-address=127.0.0.1:${port}`,
  ];
}
