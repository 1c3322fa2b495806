import { type Clock, Fault, type FaultCode } from "@resource-broker/base";
import type { KubeClient } from "../client/client.ts";
import { type Lease, LEASES } from "../resource/resources.ts";

export interface LeaseCandidateOptions {
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly durationMs: number;
}

/** A candidate for a lease: each method is one attempt. */
export interface LeaseCandidate {
  /** Acquires or renews the lease, unless another candidate holds it. */
  readonly tryAcquireOrRenew: (signal: AbortSignal) => Promise<LeaseResult>;
  /** Does nothing when another candidate holds it. */
  readonly release: (signal: AbortSignal) => Promise<void>;
}

export type LeaseResult =
  | {
      readonly isHeld: true;
      /** Monotonic, and taken before the request was sent, because the reply may be delayed. */
      readonly heldSince: number;
      /** The lease was held without interruption since the last attempt. */
      readonly wasHeld: boolean;
    }
  /** `freeInMs`: when it may be acquired, unless it is renewed meanwhile. */
  | { readonly isHeld: false; readonly holder: string; readonly freeInMs: number };

/** The last observed lease, and when this version was first observed by the local clock. */
interface ObservedLease {
  readonly lease: Lease;
  readonly at: number;
}

export function leaseCandidate(
  options: LeaseCandidateOptions,
  { client, clock }: { readonly client: KubeClient; readonly clock: Clock },
): LeaseCandidate {
  const { name, namespace, identity, durationMs } = options;
  let observed: ObservedLease | undefined;

  const observe = (lease: Lease | undefined): void => {
    if (lease === undefined) observed = undefined;
    else if (versionOf(lease) !== versionOf(observed?.lease)) observed = { lease, at: clock.monotonicMs() };
  };
  const read = async (signal: AbortSignal): Promise<void> =>
    observe(await client.find(LEASES, { name, namespace }, { signal }));
  /** Times in the lease come from other clocks and are not compared: it expires when it did not change for its duration. */
  const freeInMs = ({ lease, at }: ObservedLease): number => {
    const holder = holderOf(lease);
    if (holder === "" || holder === identity) return 0;
    return at + durationOf(lease, durationMs) - clock.monotonicMs();
  };
  /** The time before the write; undefined: another candidate was faster. */
  const write = async (known: Lease | undefined, signal: AbortSignal): Promise<number | undefined> => {
    const heldSince = clock.monotonicMs();
    const lease = heldLease(known, { ...options, wallMs: clock.wallMs() });
    const written =
      known === undefined
        ? await unlessRaceLost(client.create(LEASES, lease, { signal }), CREATED_BY_ANOTHER)
        : await unlessRaceLost(client.update(LEASES, lease, { signal }), CHANGED_BY_ANOTHER);
    if (written === undefined) return undefined;
    observe(written);
    return heldSince;
  };

  return {
    tryAcquireOrRenew: async (signal) => {
      // The holder writes without a read; all others read first.
      if (observed !== undefined && holderOf(observed.lease) === identity) {
        const heldSince = await write(observed.lease, signal);
        if (heldSince !== undefined) return { isHeld: true, heldSince, wasHeld: true };
      }
      await read(signal);
      if (observed === undefined || freeInMs(observed) <= 0) {
        const heldSince = await write(observed?.lease, signal);
        if (heldSince !== undefined) return { isHeld: true, heldSince, wasHeld: false };
        await read(signal);
      }
      if (observed === undefined) return { isHeld: false, holder: "", freeInMs: 0 };
      const holder = holderOf(observed.lease);
      if (holder !== identity) return { isHeld: false, holder, freeInMs: freeInMs(observed) };
      throw new Fault("conflict", `another client keeps changing the lease ${namespace}/${name}`);
    },
    release: async (signal) => {
      if (observed === undefined || holderOf(observed.lease) !== identity) return;
      const lease = releasedLease(observed.lease, clock.wallMs());
      observe(await unlessRaceLost(client.update(LEASES, lease, { signal }), CHANGED_BY_ANOTHER));
    },
  };
}

/** Of a creation; "not-found" is a missing namespace. */
const CREATED_BY_ANOTHER: readonly FaultCode[] = ["already-exists"];
const CHANGED_BY_ANOTHER: readonly FaultCode[] = ["conflict", "not-found"];
/** Error of the server for an update of a deleted lease. */
const WAS_DELETED = /resourceVersion should not be set on objects to be created/;

async function unlessRaceLost<R>(writing: Promise<R>, codes: readonly FaultCode[]): Promise<R | undefined> {
  try {
    return await writing;
  } catch (error) {
    const isRaceLost =
      error instanceof Fault && (codes.includes(error.code) || WAS_DELETED.test(error.message));
    if (isRaceLost) return undefined;
    throw error;
  }
}

function versionOf(lease: Lease | undefined): string | undefined {
  return lease?.metadata.resourceVersion;
}

interface LeaseClaim {
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly durationMs: number;
  readonly wallMs: number;
}

/** The lease object for an acquisition or renewal. */
function heldLease(known: Lease | undefined, claim: LeaseClaim): Lease {
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
function releasedLease(known: Lease, wallMs: number): Lease {
  const spec = { ...known.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(wallMs) };
  return { ...known, spec };
}

/** "" where nobody holds it. */
function holderOf(lease: Lease): string {
  return lease.spec?.holderIdentity ?? "";
}

function durationOf(lease: Lease, defaultMs: number): number {
  const seconds = lease.spec?.leaseDurationSeconds;
  return seconds === undefined || !(seconds > 0) ? defaultMs : seconds * 1000;
}

/** Kubernetes' MicroTime: RFC 3339 with exactly six digits after the point. */
function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}
