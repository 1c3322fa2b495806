import type { ResourceRequest } from "@resource-broker/contract/crd";

interface SampleRequest {
  readonly name: string;
  readonly spec: ResourceRequest["spec"];
}

/** What rome lacks for its shop. */
export const SHOP: SampleRequest = { name: "shop", spec: { requestedCPU: "4", requestedMemory: "8Gi" } };

/** More GPUs than anybody has. */
export const TRAINING: SampleRequest = {
  name: "training",
  spec: { requestedCPU: "8", requestedMemory: "32Gi", requestedGPU: "6" },
};

/** As many as there are. */
export const SMALLER_TRAINING: SampleRequest = {
  name: "smaller-training",
  spec: { ...TRAINING.spec, requestedGPU: "4" },
};

/** The cluster with GPUs. */
export const GPU_PROVIDER = "tokyo";

export function isActive({ status }: ResourceRequest): boolean {
  return status?.phase === "Active";
}

/** As a person would write it. */
export function manifestOf({ name, spec }: SampleRequest): string[] {
  return [
    "kind: ResourceRequest",
    `metadata: {name: ${name}}`,
    `spec: {${Object.entries(spec)
      .map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
      .join(", ")}}`,
  ];
}
