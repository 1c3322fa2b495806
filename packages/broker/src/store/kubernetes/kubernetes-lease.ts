import { LEASES, type Lease } from "@resource-broker/kube";
import { type Candidate, type LeaseResult, type LeaseTime, leaseTime } from "../common/leader-elector.ts";
import { type LedgerAccess, writeObject } from "./ledger-client.ts";
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

interface ObservedLease {
  readonly lease: Lease;
  /** When this version was first seen. Times in a Lease come from other machines and are not compared with local time. */
  readonly at: number;
}

export function kubernetesLease(deps: KubernetesLeaseDeps): KubernetesLease {
  const { client, namespace, clock, candidate, leaseMs } = deps;
  const identity = `${candidate.name}_${candidate.instance}`;
  let observed: ObservedLease | undefined;

  const observe = (lease: Lease | undefined): ObservedLease | undefined => {
    if (lease === undefined) observed = undefined;
    else if (lease.metadata.resourceVersion !== observed?.lease.metadata.resourceVersion)
      observed = { lease, at: clock.monotonicMs() };
    return observed;
  };

  const read = async (): Promise<ObservedLease | undefined> =>
    observe(await client.find(LEASES, { name: LEDGER, namespace }));

  const put = async (spec: Lease["spec"]): Promise<boolean> => {
    const known = observed?.lease;
    const metadata = known?.metadata ?? { name: LEDGER, namespace };
    const lease = { ...known, metadata, spec: { ...known?.spec, ...spec } };
    const written = await writeObject(client, LEASES, lease);
    if (written !== undefined) observe(written);
    return written !== undefined;
  };

  const claim = (): Promise<boolean> => {
    const now = microTime(clock.wallMs());
    const isRenewal = holderOf(observed?.lease) === identity;
    const transitions = (observed?.lease.spec?.leaseTransitions ?? -1) + 1;
    return put({
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      renewTime: now,
      ...(isRenewal ? {} : { acquireTime: now, leaseTransitions: transitions }),
    });
  };

  const freeInMs = ({ lease, at }: ObservedLease): number => {
    const holder = holderOf(lease);
    if (holder === "" || holder === identity) return 0;
    const statedMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000;
    return at + (statedMs > 0 ? statedMs : leaseMs) - clock.monotonicMs();
  };

  const tryOnce = async (sentAt: LeaseTime): Promise<LeaseResult | undefined> => {
    const current = await read();
    const leftMs = current === undefined ? 0 : freeInMs(current);
    if (leftMs > 0) return { isHeld: false, holder: nameOf(holderOf(current?.lease)), freeInMs: leftMs };
    return (await claim()) ? { isHeld: true, sentAt, wasHeld: false } : undefined;
  };

  return {
    tryAcquireOrRenew: async () => {
      const sentAt = leaseTime(clock);
      // The holder writes at once. Others, and a holder that met a conflict, read first.
      if (holderOf(observed?.lease) === identity && (await claim()))
        return { isHeld: true, sentAt, wasHeld: true };
      return (
        (await tryOnce(sentAt)) ??
        (await tryOnce(sentAt)) ?? {
          isHeld: false,
          holder: nameOf(holderOf(observed?.lease)),
          freeInMs: leaseMs,
        }
      );
    },
    release: async () => {
      if (holderOf(observed?.lease) !== identity) return;
      await put({ holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(clock.wallMs()) });
    },
  };
}

function holderOf(lease: Lease | undefined): string {
  return lease?.spec?.holderIdentity ?? "";
}

function nameOf(identity: string): string {
  return identity.replace(/_[^_]*$/, "");
}

/** Kubernetes' MicroTime: six digits after the point. */
function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}
