import { type Clock, Fault } from "@resource-broker/base";
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
  /** `heldSince` is monotonic and taken before the request was sent, because the reply may be delayed. */
  { readonly isHeld: true; readonly heldSince: number } | { readonly isHeld: false; readonly holder: string };

export function leaseCandidate(
  options: LeaseCandidateOptions,
  { client, clock }: { readonly client: KubeClient; readonly clock: Clock },
): LeaseCandidate {
  const { name, namespace, identity, durationMs } = options;
  /**
   * The last observed lease, and when this version was first observed by the local clock. Times in the lease come from other
   * clocks and are not compared: the lease has expired when it did not change for its stated duration.
   */
  let observed: { readonly lease: Lease; readonly at: number } | undefined;

  const observe = (lease: Lease | undefined): void => {
    if (lease === undefined) observed = undefined;
    else if (versionOf(lease) !== versionOf(observed?.lease)) observed = { lease, at: clock.monotonicMs() };
  };
  const isFree = (lease: Lease): boolean => {
    const holder = holderOf(lease);
    if (holder === "" || holder === identity) return true;
    return observed !== undefined && clock.monotonicMs() - observed.at > durationOf(lease, durationMs);
  };
  const write = async (known: Lease | undefined, signal: AbortSignal): Promise<LeaseResult> => {
    const heldSince = clock.monotonicMs();
    const lease = heldLease(known, { ...options, wallMs: clock.wallMs() });
    const written =
      known === undefined
        ? client.create(LEASES, lease, { signal })
        : client.update(LEASES, lease, { signal });
    observe(await written);
    return { isHeld: true, heldSince };
  };

  return {
    tryAcquireOrRenew: async (signal) => {
      // The holder writes without a read; all others read first.
      if (observed !== undefined && holderOf(observed.lease) === identity) {
        const result = await unlessRaceLost(write(observed.lease, signal));
        if (result !== undefined) return result;
      }
      observe(await client.find(LEASES, { name, namespace }, { signal }));
      if (observed === undefined || isFree(observed.lease)) {
        const result = await unlessRaceLost(write(observed?.lease, signal));
        if (result !== undefined) return result;
        observe(await client.find(LEASES, { name, namespace }, { signal }));
      }
      const holder = observed === undefined ? "" : holderOf(observed.lease);
      if (holder !== identity) return { isHeld: false, holder };
      throw new Fault("conflict", `another client keeps changing the lease ${namespace}/${name}`);
    },
    release: async (signal) => {
      if (observed === undefined || holderOf(observed.lease) !== identity) return;
      const lease = releasedLease(observed.lease, clock.wallMs());
      observe(await unlessRaceLost(client.update(LEASES, lease, { signal })));
    },
  };
}

const LOST_RACE_CODES: ReadonlySet<string> = new Set(["conflict", "already-exists", "not-found"]);

/** Error of the server for an update of a deleted lease. */
const WAS_DELETED = /resourceVersion should not be set on objects to be created/;

async function unlessRaceLost<R>(writing: Promise<R>): Promise<R | undefined> {
  try {
    return await writing;
  } catch (error) {
    const isRaceLost =
      error instanceof Fault && (LOST_RACE_CODES.has(error.code) || WAS_DELETED.test(error.message));
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
