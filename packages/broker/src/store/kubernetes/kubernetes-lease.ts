import { leaseCandidate } from "@resource-broker/kube";
import { type Candidate, type LeaseResult, leaseTime } from "../common/leader-elector.ts";
import type { LedgerAccess } from "./ledger-client.ts";
import { LEDGER } from "./segments.ts";

interface KubernetesLeaseDeps extends LedgerAccess {
  readonly candidate: Candidate;
  readonly leaseMs: number;
}

/** The Lease that elects the leader. It avoids write conflicts on the manifest, but only the manifest decides who leads. */
export interface KubernetesLease {
  /** Acquires or renews the lease, unless another replica holds it. */
  readonly tryAcquireOrRenew: () => Promise<LeaseResult>;
  readonly release: () => Promise<void>;
}

export function kubernetesLease(deps: KubernetesLeaseDeps): KubernetesLease {
  const { namespace, clock, candidate, leaseMs: durationMs } = deps;
  const identity = `${candidate.name}_${candidate.instance}`;
  const lease = leaseCandidate({ name: LEDGER, namespace, identity, durationMs }, deps);
  // The client has a time limit of its own.
  const neverAborted = new AbortController().signal;
  return {
    tryAcquireOrRenew: async () => {
      const sentAt = leaseTime(clock);
      const result = await lease.tryAcquireOrRenew(neverAborted);
      if (result.isHeld) return { isHeld: true, sentAt, wasHeld: result.wasHeld };
      return { ...result, holder: nameOf(result.holder) };
    },
    release: () => lease.release(neverAborted),
  };
}

function nameOf(identity: string): string {
  return identity.replace(/_[^_]*$/, "");
}
