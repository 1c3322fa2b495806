import { Fault } from "@resource-broker/base";
import type { DecisionDTO } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { type Line, line, span } from "../text.ts";
import type { TourEnvironment } from "./tour-environment.ts";

/** One step of the tour: its text, and its action. */
export interface TourStep {
  readonly title: string;
  /** Told before anything happens. */
  readonly narration: string;
  /** Runs the step and checks the result; resolves with what it prints. Rejects when a check fails. */
  readonly run: (environment: TourEnvironment) => Promise<readonly Line[]>;
}

/** Fails the step when the condition does not hold. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Fault("internal", message);
}

/** The broker's own words, the outcome and what would flip it set apart. */
export function explanationRows({ explanation, winner, flip }: DecisionDTO): Line[] {
  return explanation.split("\n").map((text, index) => {
    if (index === 0) return line(span(text, winner === undefined ? "bad" : "good"));
    if (text === flip) return line(span(text, "careful"));
    return line(text);
  });
}

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

/** Needs all GPUs, and before others. */
export const URGENT: SampleRequest = {
  name: "urgent",
  spec: {
    requestedCPU: "8",
    requestedMemory: "32Gi",
    requestedGPU: "4",
    priority: 50,
    queue: true,
  },
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
