import type { KubernetesObject } from "@resource-broker/contract";
import type { EventReason } from "./reasons.ts";

/** An event that `kubectl describe` shows. */
export interface Occurrence {
  readonly about: Pick<KubernetesObject<unknown, unknown>, "apiVersion" | "kind" | "metadata">;
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
}

export type Tell = (occurrence: Occurrence) => void;
