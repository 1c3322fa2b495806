import { type KubeClient, type Lease, LEASES } from "@resource-broker/kube";
import type { Clock } from "@resource-broker/runtime";
import { isCode, writeEnd } from "./failure.ts";
import type { Candidate } from "./head.ts";
import { LEDGER } from "./page.ts";
import type { Patiently } from "./patience.ts";

export interface LeaseObjectDeps {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly patiently: Patiently;
  readonly candidate: Candidate;
  readonly leaseMs: number;
}

/** The result of an attempt to acquire or renew the lease. */
export type Holding =
  /** `wasMine`: the lease was held without interruption since the last attempt. */
  | { readonly isMine: true; readonly wasMine: boolean }
  /** `freeInMs`: when it may be taken, unless it is renewed meanwhile. */
  | { readonly isMine: false; readonly holder: string; readonly freeInMs: number };

/** The Lease that elects the leader. It avoids write conflicts on the manifest, but only the manifest decides who leads. */
export interface LeaseObject {
  /** Takes or renews it, unless somebody else has it. */
  readonly hold: () => Promise<Holding>;
  readonly release: () => Promise<void>;
}

interface Seen {
  readonly lease: Lease;
  /** When this version was first seen. Times in a Lease come from other machines and are not compared with local time. */
  readonly at: number;
}

export function leaseObject(deps: LeaseObjectDeps): LeaseObject {
  const { client, namespace, clock, patiently, candidate, leaseMs } = deps;
  const identity = `${candidate.name}_${candidate.instance}`;
  let seen: Seen | undefined;

  const see = (lease: Lease | undefined): Seen | undefined => {
    if (lease === undefined) seen = undefined;
    else if (lease.metadata.resourceVersion !== seen?.lease.metadata.resourceVersion)
      seen = { lease, at: clock.monotonicMs() };
    return seen;
  };

  const look = async (): Promise<Seen | undefined> =>
    see(await patiently((signal) => client.find(LEASES, { name: LEDGER, namespace }, { signal })));

  const put = async (spec: Lease["spec"]): Promise<boolean> => {
    const known = seen?.lease;
    const metadata = known?.metadata ?? { name: LEDGER, namespace };
    const lease: Lease = { ...known, metadata, spec: { ...known?.spec, ...spec } };
    try {
      const written = await patiently((signal) =>
        known === undefined
          ? client.create(LEASES, lease, { signal })
          : client.update(LEASES, lease, { signal }),
      );
      see(written);
      return true;
    } catch (error) {
      const hasNoNamespace = known === undefined && isCode(error, "not-found");
      if (writeEnd(error) !== "overtaken" || hasNoNamespace) throw error;
      return false;
    }
  };

  const claim = (): Promise<boolean> => {
    const now = microTime(clock.wallMs());
    const isRenewal = holderOf(seen?.lease) === identity;
    const transitions = (seen?.lease.spec?.leaseTransitions ?? -1) + 1;
    return put({
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      renewTime: now,
      ...(isRenewal ? {} : { acquireTime: now, leaseTransitions: transitions }),
    });
  };

  const freeInMs = ({ lease, at }: Seen): number => {
    const holder = holderOf(lease);
    if (holder === "" || holder === identity) return 0;
    const statedMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000;
    return at + (statedMs > 0 ? statedMs : leaseMs) - clock.monotonicMs();
  };

  const tryOnce = async (): Promise<Holding | undefined> => {
    const there = await look();
    const leftMs = there === undefined ? 0 : freeInMs(there);
    if (leftMs > 0) return { isMine: false, holder: nameOf(holderOf(there?.lease)), freeInMs: leftMs };
    return (await claim()) ? { isMine: true, wasMine: false } : undefined;
  };

  return {
    hold: async () => {
      // The holder writes at once. Others, and a holder that met a conflict, read first.
      if (holderOf(seen?.lease) === identity && (await claim())) return { isMine: true, wasMine: true };
      return (
        (await tryOnce()) ??
        (await tryOnce()) ?? { isMine: false, holder: nameOf(holderOf(seen?.lease)), freeInMs: leaseMs }
      );
    },
    release: async () => {
      if (holderOf(seen?.lease) !== identity) return;
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
