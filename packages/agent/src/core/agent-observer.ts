import type { Fault } from "@resource-broker/contract";
import type { ResourceVector } from "@resource-broker/domain";

/** What happens in the agent, for whoever counts it. Every call returns at once. */
export interface AgentObserver {
  readonly published: (result: "accepted" | Fault["code"], tookMs: number) => void;
  /** What the cluster lends and could lend, as last advertised. */
  readonly advertised: (figures: {
    readonly reserved: ResourceVector;
    readonly available: ResourceVector;
  }) => void;
  /** From the first sight of a request to its grant. */
  readonly reserved: (tookMs: number) => void;
  /** From the grant at the broker to the hold in this cluster, by the broker's time. */
  readonly held: (delayMs: number) => void;
  readonly watchRestarted: (resource: string) => void;
  readonly reconcileFailed: (controller: string) => void;
}
