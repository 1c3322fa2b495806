import { formatBytes, formatCount, formatCpu } from "../quantity/format-amount.ts";
import type { ResourceVector } from "./resource-vector.ts";

/** A set of amounts as it is sent: canonical Kubernetes quantities. */
export interface FormattedResources {
  readonly cpu: string;
  readonly memory: string;
  readonly gpu?: string;
  readonly storage?: string;
  readonly extended?: Readonly<Record<string, string>>;
}

/** CPU and memory are always written; of the others only what there is. */
export function formatResources(vector: ResourceVector): FormattedResources {
  const extended = Object.entries(vector.extended).filter(([, amount]) => amount !== 0);
  return {
    cpu: formatCpu(vector.cpuMillis),
    memory: formatBytes(vector.memoryBytes),
    ...(vector.gpus === 0 ? {} : { gpu: formatCount(vector.gpus) }),
    ...(vector.storageBytes === 0 ? {} : { storage: formatBytes(vector.storageBytes) }),
    ...(extended.length === 0
      ? {}
      : { extended: Object.fromEntries(extended.map(([name, amount]) => [name, formatCount(amount)])) }),
  };
}
