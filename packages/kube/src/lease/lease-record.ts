import type { Lease } from "../resource/object-types.ts";
import { microTime } from "./micro-time.ts";

export interface LeaseClaim {
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly durationMs: number;
  readonly wallMs: number;
}

/** The lease object for an acquisition or renewal. */
export function heldLease(known: Lease | undefined, claim: LeaseClaim): Lease {
  const now = microTime(claim.wallMs);
  const spec = {
    ...known?.spec,
    holderIdentity: claim.identity,
    leaseDurationSeconds: Math.ceil(claim.durationMs / 1000),
    renewTime: now,
  };
  const { name, namespace } = claim;
  const base = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace },
    ...known,
  };
  if (known !== undefined && holderOf(known) === claim.identity) return { ...base, spec };
  const leaseTransitions = known === undefined ? 0 : (known.spec?.leaseTransitions ?? 0) + 1;
  return { ...base, spec: { ...spec, acquireTime: now, leaseTransitions } };
}

/** The lease object for a release: others can acquire it at once. */
export function releasedLease(known: Lease, wallMs: number): Lease {
  const spec = { ...known.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(wallMs) };
  return { ...known, spec };
}

/** "" where nobody holds it. */
export function holderOf(lease: Lease): string {
  return lease.spec?.holderIdentity ?? "";
}

/** The stated lease duration. */
export function durationOf(lease: Lease, defaultMs: number): number {
  const seconds = lease.spec?.leaseDurationSeconds;
  return seconds === undefined || !(seconds > 0) ? defaultMs : seconds * 1000;
}
