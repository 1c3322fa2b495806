/** Bodies as agents send them. */
const AMOUNTS = { cpu: "16", memory: "64Gi" };

/** An advertisement of a cluster with 16 CPU and 64Gi, all of it free. */
export function advertisementOf(clusterID: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    clusterID,
    resources: {
      capacity: AMOUNTS,
      allocatable: AMOUNTS,
      allocated: { cpu: "0", memory: "0" },
      available: AMOUNTS,
    },
    timestamp: "2026-07-01T10:00:00Z",
    ...more,
  };
}

export function requestOf(cpu = "4", memory = "8Gi", more: Readonly<Record<string, unknown>> = {}) {
  return { requestedResources: { cpu, memory }, ...more };
}

/** Agents that speak every call say so. */
export const NEWER_AGENT = { "Agent-Protocol": "2" } as const;

/** Agents whose requests can wait. */
export const WAITING_AGENT = { "Agent-Protocol": "3" } as const;
