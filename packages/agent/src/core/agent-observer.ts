import type { Fault } from "@resource-broker/contract";
import type { ResourceVector } from "@resource-broker/domain";

/** Receives what happens in the agent, for metrics. Every call returns at once. */
export interface AgentObserver {
  readonly published: (result: "accepted" | Fault["code"], tookMs: number) => void;
  /** What is reserved and available, as last advertised. */
  readonly advertised: (resources: {
    readonly reserved: ResourceVector;
    readonly available: ResourceVector;
  }) => void;
  /** From the first reconcile of a request to its grant. */
  readonly reserved: (tookMs: number) => void;
  /** From the grant at the broker to the ProviderInstruction in this cluster, by the broker's time. */
  readonly held: (delayMs: number) => void;
  readonly watchRestarted: (resource: string) => void;
  readonly reconcileFailed: (controller: string) => void;
}
