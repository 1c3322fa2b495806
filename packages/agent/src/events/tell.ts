import type { KubernetesObject } from "@resource-broker/contract";
import type { EventReason } from "./reasons.ts";

/** Something that people should see under `kubectl describe`. */
export interface Occurrence {
  readonly about: Pick<KubernetesObject<unknown, unknown>, "apiVersion" | "kind" | "metadata">;
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
}

export type Tell = (occurrence: Occurrence) => void;
