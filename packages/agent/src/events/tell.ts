import type { KubernetesObject } from "@resource-broker/contract";
import type { EventReason } from "./reasons.ts";

/** An event that `kubectl describe` shows. */
export interface ObjectEvent {
  readonly regarding: Pick<KubernetesObject<unknown, unknown>, "apiVersion" | "kind" | "metadata">;
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
}

export type RecordEvent = (event: ObjectEvent) => void;
