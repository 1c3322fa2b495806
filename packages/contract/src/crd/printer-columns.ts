import type { Column } from "./kind.ts";

const wide = (name: string, jsonPath: string, description: string): Column => ({
  name,
  type: "string",
  jsonPath,
  description,
  isWide: true,
});

const amount = (name: string, jsonPath: string, description: string): Column => ({
  name,
  type: "string",
  jsonPath,
  description,
});

/** Both advertisement kinds show the same amounts. */
export const advertisementColumns: { readonly main: readonly Column[]; readonly wide: readonly Column[] } = {
  main: [
    amount("Cluster", ".spec.clusterID", "The cluster that lends."),
    amount("CPU", ".spec.resources.available.cpu", "CPU that can still be lent."),
    amount("Memory", ".spec.resources.available.memory", "Memory that can still be lent."),
    amount("GPU", ".spec.resources.available.gpu", "GPUs that can still be lent."),
  ],
  wide: [
    wide("CPU reserved", ".spec.resources.reserved.cpu", "CPU held by reservations."),
    wide("Memory reserved", ".spec.resources.reserved.memory", "Memory held by reservations."),
    wide("CPU allocatable", ".spec.resources.allocatable.cpu", "CPU the nodes can give to pods."),
    wide("Memory allocatable", ".spec.resources.allocatable.memory", "Memory the nodes can give to pods."),
  ],
};

/** What is asked for or held, for the kinds that state it in flat fields. */
export const requestedColumns: readonly Column[] = [
  amount("CPU", ".spec.requestedCPU", "CPU that is asked for."),
  amount("Memory", ".spec.requestedMemory", "Memory that is asked for."),
];

export const requestedGpuColumn = amount("GPU", ".spec.requestedGPU", "GPUs that are asked for.");

/** Shown with `-o wide` for both kinds of instruction. */
export const instructionDetailColumns: readonly Column[] = [
  wide("Expires", ".spec.expiresAt", "When it ends by itself."),
  wide("Message", ".spec.message", "The instruction in words."),
];
