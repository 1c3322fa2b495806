import type { Clock } from "@resource-broker/runtime";
import type { Leadership, LeadershipState } from "../common/leadership.ts";
import { isLeaseValid, type LeaseTime, leaseTime } from "../common/lease-time.ts";
import { StoreFailure } from "../store.ts";
import type { KubernetesLease, LeaseResult } from "./kubernetes-lease.ts";

/** Renewals per lease duration: one or two of them may fail. After a failure the interval is halved. */
export const RENEWALS_PER_LEASE = 3;
/** Polls of a standby per lease duration: after a clean shutdown, another replica leads within a second. */
const POLLS_PER_LEASE = 6;
const MIN_WAIT_MS = 20;

export interface LeaderElectorDeps {
  /** Created on first use, when the API server is known. */
  readonly lease: () => Promise<KubernetesLease>;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Reads the manifest to find out who leads, if the lease cannot tell; calls `lose` if it is another replica. */
  readonly verify: () => Promise<void>;
  /** Logs an error of background work and returns its message. */
  readonly onError: (doing: string, error: unknown) => string;
}

/** Acquires and renews the lease, and reports the leadership state. */
export interface LeaderElector extends Pick<Leadership, "acquire" | "state" | "predecessor" | "onLost"> {
  /** Takes the lease if it is free; else says who has it. */
  readonly tryAcquire: () => Promise<LeaseResult>;
  /** Records that another replica leads and notifies listeners. */
  readonly markLost: (leader: string) => StoreFailure;
  readonly lost: () => StoreFailure | undefined;
  /** Releases the lease. */
  readonly release: () => Promise<void>;
}

export function leaderElector({ lease, leaseMs, clock, verify, onError }: LeaderElectorDeps): LeaderElector {
  const listeners: ((failure: StoreFailure) => void)[] = [];
  /** By this machine's clocks, from before the renewal was sent: others count from later. */
  let renewedAt: LeaseTime | undefined;
  let leader = "";
  let problem: string | undefined;
  let lost: StoreFailure | undefined;
  let isClosed = false;
  /** The renewal after which the clocks were found to disagree. */
  let renewedNowAfter: LeaseTime | undefined;
  let wake = (): void => undefined;
  let cancelRenewal = (): void => undefined;

  const tryAcquire = async (): Promise<LeaseResult> => {
    const sentAt = leaseTime(clock);
    const holding = await (await lease()).tryAcquireOrRenew();
    problem = undefined;
    if (holding.isHeld) await onHeld(sentAt, holding.wasHeld);
    else leader = holding.holder;
    return holding;
  };

  const onHeld = async (sentAt: LeaseTime, wasMine: boolean): Promise<void> => {
    // Another replica may have led and ended while this process was paused: the local state may be outdated.
    if (renewedAt !== undefined && !wasMine) await verify();
    if (lost !== undefined) return;
    renewedAt = sentAt;
    scheduleRenewal(leaseMs / RENEWALS_PER_LEASE);
  };

  const scheduleRenewal = (delayMs: number): void => {
    cancelRenewal();
    if (!isClosed && lost === undefined) cancelRenewal = clock.after(delayMs, () => void renew());
  };

  const renew = async (): Promise<void> => {
    try {
      const holding = await tryAcquire();
      if (!holding.isHeld) markLost(holding.holder);
    } catch (error) {
      onError("the lease could not be renewed", error);
      scheduleRenewal(leaseMs / RENEWALS_PER_LEASE / 2);
    }
  };

  /** The clocks disagree: renew now to find out who leads, instead of waiting for the next renewal. */
  const renewNow = (renewedAt: LeaseTime): void => {
    if (renewedNowAfter === renewedAt) return;
    renewedNowAfter = renewedAt;
    void renew();
  };

  const markLost = (successor: string): StoreFailure => {
    leader = successor;
    if (lost !== undefined) return lost;
    lost = new StoreFailure("deposed", `another replica leads now: ${leader || "its name is not known"}`);
    cancelRenewal();
    for (const listener of listeners.splice(0)) listener(lost);
    return lost;
  };

  /** How long to wait before the next look; undefined: this replica leads. */
  const tryOnce = async (): Promise<number | undefined> => {
    const longestMs = leaseMs / POLLS_PER_LEASE;
    try {
      const holding = await tryAcquire();
      if (holding.isHeld) return undefined;
      return Math.min(Math.max(holding.freeInMs, MIN_WAIT_MS), longestMs);
    } catch (error) {
      problem = onError("the API server could not be asked who leads", error);
      return longestMs;
    }
  };

  const pause = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.after(delayMs, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });

  return {
    tryAcquire,
    acquire: async () => {
      while (!isClosed) {
        const waitMs = await tryOnce();
        if (waitMs === undefined) return true;
        if (!isClosed) await pause(waitMs);
      }
      return false;
    },
    markLost,
    lost: () => lost,
    release: async () => {
      isClosed = true;
      cancelRenewal();
      wake();
      const isHeld = renewedAt !== undefined && lost === undefined;
      renewedAt = undefined;
      if (!isHeld) return;
      try {
        await (await lease()).release();
      } catch (error) {
        onError("the lease could not be given back", error);
      }
    },
    state: (): LeadershipState => {
      if (lost !== undefined) return { role: "deposed", leader };
      if (renewedAt === undefined)
        return { role: "standby", leader, ...(problem === undefined ? {} : { problem }) };
      if (isLeaseValid(renewedAt, leaseTime(clock), leaseMs)) return { role: "leader" };
      if (clock.monotonicMs() - renewedAt.monotonicMs < leaseMs) renewNow(renewedAt);
      return { role: "unsure" };
    },
    predecessor: () => leader,
    onLost: (listener) => {
      if (lost === undefined) listeners.push(listener);
      else listener(lost);
    },
  };
}
