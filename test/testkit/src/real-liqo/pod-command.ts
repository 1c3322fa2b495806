import { basename } from "node:path";
import type { LiqoProgram } from "../../../../tools/liqo-assets/recipe.ts";

interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly configMapKeyRef?: { readonly name: string; readonly key: string };
  };
}

/** As much of a Pod as it takes to run its first container. */
export interface RunnablePod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly containers: readonly {
      readonly image: string;
      readonly command?: readonly string[];
      readonly args?: readonly string[];
      readonly env?: readonly EnvVar[];
    }[];
  };
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

/** Programs of Liqo that are started as processes. All others of a pod's programs only seem to run. */
const PROGRAMS: readonly LiqoProgram[] = [
  "liqo-controller-manager",
  "crd-replicator",
  "webhook",
  "ipam",
  "virtual-kubelet",
];

/** The program of Liqo that a running pod stands for. Undefined: of somebody else, not scheduled yet, or leaving. */
export function programOf({ metadata, spec, status }: RunnablePod): LiqoProgram | undefined {
  const [container] = spec.containers;
  const isRunning = status?.phase === "Running" && metadata.deletionTimestamp === undefined;
  if (!isRunning || container?.image.includes("liqotech/") !== true) return undefined;
  return PROGRAMS.find((program) => program === basename(container.command?.[0] ?? ""));
}

export interface PodPlaces {
  readonly kubeconfigFile: string;
  /** Free ports, as many as `portsFor` says: pods share the addresses of one network namespace. */
  readonly ports: readonly number[];
  readonly configMapValue: (name: string, key: string) => string | undefined;
}

export function portsFor(program: LiqoProgram): number {
  return program === "liqo-controller-manager" || program === "webhook" ? 2 : 1;
}

/** The container's arguments and environment as a kubelet would resolve them, with ports and access of a process. */
export function podCommand(
  pod: RunnablePod,
  { kubeconfigFile, ports, configMapValue }: PodPlaces,
): { readonly args: string[]; readonly env: Readonly<Record<string, string>> } {
  const [container] = pod.spec.containers;
  const valueOf = ({ value, valueFrom }: EnvVar): string | undefined => {
    const { fieldRef, configMapKeyRef } = valueFrom ?? {};
    if (fieldRef !== undefined) return fieldOf(pod, fieldRef.fieldPath);
    return configMapKeyRef === undefined ? value : configMapValue(configMapKeyRef.name, configMapKeyRef.key);
  };
  const env: Record<string, string> = { KUBECONFIG: kubeconfigFile };
  for (const variable of container?.env ?? []) env[variable.name] = valueOf(variable) ?? "";
  const args = (container?.args ?? []).map((arg) =>
    arg.replace(/\$\((\w+)\)/g, (whole, name: string) => env[name] ?? whole),
  );
  return { args: [...args, ...processFlags(pod, ports, kubeconfigFile)], env };
}

function fieldOf({ metadata, spec, status }: RunnablePod, path: string): string | undefined {
  const fields: Readonly<Record<string, string | undefined>> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
    "spec.nodeName": spec.nodeName,
    "spec.serviceAccountName": spec.serviceAccountName,
    "status.podIP": status?.podIP,
  };
  return fields[path];
}

/** In a pod of its own each of them would listen on the same port. */
function processFlags(pod: RunnablePod, ports: readonly number[], kubeconfigFile: string): string[] {
  const [first = 0, second = 0] = ports;
  switch (programOf(pod)) {
    case "liqo-controller-manager":
    case "webhook":
      return [`--metrics-address=127.0.0.1:${first}`, `--health-probe-address=127.0.0.1:${second}`];
    case "crd-replicator":
      return [`--metrics-address=127.0.0.1:${first}`];
    case "virtual-kubelet":
      return [
        `--listen-port=${first}`,
        // Its certificate would be signed for a kubelet's node, which needs an approver.
        "--certificate-type=self-signed",
        `--home-kubeconfig=${kubeconfigFile}`,
      ];
    default:
      return [];
  }
}
