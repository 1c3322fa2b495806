import type { Clock } from "@resource-broker/base";
import { type Store, StoreFailure } from "../store.ts";

/** A moment by both clocks of this machine. */
export interface LeaseTime {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The clocks may disagree by this part of a lease: they are slewed, and they are not read in the same instant. */
const MAX_CLOCK_SKEW = 1 / 6;

export function leaseTime(clock: Pick<Clock, "monotonicMs" | "wallMs">): LeaseTime {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/**
 * Whether a lease that was renewed at `since` is still valid. Linux stops the monotonic clock while the machine is
 * suspended, and the wall clock may be set. The lease is valid only if both clocks say so and agree. Otherwise only the
 * store knows the leader.
 */
export function isLeaseValid(renewedAt: LeaseTime, now: LeaseTime, leaseMs: number): boolean {
  const elapsedMs = now.monotonicMs - renewedAt.monotonicMs;
  const onWallMs = now.wallMs - renewedAt.wallMs;
  return (
    Math.max(elapsedMs, onWallMs) < leaseMs && Math.abs(onWallMs - elapsedMs) <= leaseMs * MAX_CLOCK_SKEW
  );
}

export const DEFAULT_LEASE_MS = 6000;
/** Renewals per lease duration: one or two of them may fail. After a failure the interval is halved. */
export const RENEWALS_PER_LEASE = 3;
/** Polls of a standby per lease duration: after a clean shutdown, another replica leads within a second. */
export const POLLS_PER_LEASE = 6;
const MIN_WAIT_MS = 20;

/** A replica that leads or wants to. */
export interface Candidate {
  /** Identifies the process. */
  readonly instance: string;
  /** Its name, for messages. */
  readonly name: string;
}

/** The result of an attempt to acquire or renew the lease. */
export type LeaseResult =
  | {
      readonly isHeld: true;
      /** When the request was sent. */
      readonly sentAt: LeaseTime;
      /** The lease was held without interruption since the last attempt. */
      readonly wasHeld: boolean;
    }
  /** `freeInMs`: when it may be acquired, unless it is renewed meanwhile. */
  | { readonly isHeld: false; readonly holder: string; readonly freeInMs: number };

/** The lease in one kind of store. A StoreFailure means that a retry does not help; other errors are retried. */
export interface LeaseAdapter {
  /** Acquires the lease if it is free. */
  readonly tryAcquire: () => Promise<LeaseResult>;
  /** The same for a standby. It may read the lease first, and then calls `onRead` with the holder. */
  readonly poll: (onRead: (holder: string) => void) => Promise<LeaseResult>;
  /** Renews the lease; `isHeld` is false if another replica has acquired it. */
  readonly renew: () => Promise<LeaseResult>;
  /** Releases the lease, so that another replica can acquire it at once. */
  readonly release: () => Promise<void>;
  /** Finds out who leads if the lease was not held without interruption; calls `markLost` if it is another replica. */
  readonly verify?: () => Promise<void>;
  /** For log lines, for example "the database". */
  readonly server: string;
}

export interface LeaderElectorDeps {
  readonly lease: LeaseAdapter;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Logs an error of background work and returns its message. */
  readonly onError: (doing: string, error: unknown) => string;
}

/** A store that several replicas share, of which one leads. */
export interface ReplicatedStore extends Store {
  readonly leadership: Leadership;
}

/** Acquires and renews the lease, and reports the leadership state. */
export interface LeaderElector extends Omit<Leadership, "prepare"> {
  /** Makes this replica the leader if the lease is free. Returns who leads instead; undefined: this replica. */
  readonly tryLead: () => Promise<string | undefined>;
  /** A commit that was sent at this moment has renewed the lease. */
  readonly renewed: (sentAt: LeaseTime) => void;
  /** Records that another replica leads and notifies listeners. */
  readonly markLost: (leader: string) => StoreFailure;
  readonly lost: () => StoreFailure | undefined;
  /** Ends the term and releases the lease. */
  readonly release: () => Promise<void>;
}

export function leaderElector({ lease, leaseMs, clock, onError }: LeaderElectorDeps): LeaderElector {
  const renewEveryMs = leaseMs / RENEWALS_PER_LEASE;
  const listeners: ((failure: StoreFailure) => void)[] = [];
  /** By the local clocks, before the request was sent: the lease ends here earlier than for the store and other replicas. */
  let renewedAt: LeaseTime | undefined;
  let leader = "";
  let problem: string | undefined;
  let lost: StoreFailure | undefined;
  let isClosed = false;
  /** `renewNow` runs once per renewal: the renewal that it last ran for. */
  let renewNowRanFor: LeaseTime | undefined;
  let wake = (): void => undefined;
  let cancelRenewal = (): void => undefined;
  /** The renewals that are under way; never rejects. */
  let renewals: Promise<unknown> = Promise.resolve();

  const onRead = (holder: string): void => {
    leader = holder;
    problem = undefined;
  };

  const onResult = async (result: LeaseResult): Promise<LeaseResult> => {
    if (!result.isHeld) onRead(result.holder);
    else await onHeld(result.sentAt, result.wasHeld);
    return result;
  };

  const onHeld = async (sentAt: LeaseTime, wasHeld: boolean): Promise<void> => {
    // Another replica may have led and ended while this process was paused: the local state may be outdated.
    if (renewedAt !== undefined && !wasHeld) await lease.verify?.();
    if (lost !== undefined) return;
    renewedAt ??= sentAt;
    renewed(sentAt);
    scheduleRenewal(renewEveryMs);
  };

  const renewed = (sentAt: LeaseTime): void => {
    if (renewedAt !== undefined && sentAt.monotonicMs >= renewedAt.monotonicMs) renewedAt = sentAt;
  };

  const scheduleRenewal = (delayMs: number): void => {
    cancelRenewal();
    if (!isClosed && lost === undefined) cancelRenewal = clock.after(delayMs, startRenewal);
  };

  const startRenewal = (): void => {
    renewals = Promise.all([renewals, renew()]);
  };

  const renew = async (): Promise<void> => {
    try {
      if (renewedAt === undefined || !isRenewalDue(renewedAt)) return scheduleRenewal(renewEveryMs);
      const result = await lease.renew();
      if (!result.isHeld) markLost(result.holder);
      else if (!isClosed) await onHeld(result.sentAt, result.wasHeld);
    } catch (error) {
      onError("the lease could not be renewed", error);
      scheduleRenewal(renewEveryMs / 2);
    }
  };

  /** A commit may have renewed the lease meanwhile. */
  const isRenewalDue = (since: LeaseTime): boolean =>
    clock.monotonicMs() - since.monotonicMs >= renewEveryMs ||
    !isLeaseValid(since, leaseTime(clock), leaseMs);

  /** The clocks disagree: renew now to find out who leads, instead of waiting for the next renewal. */
  const renewNow = (since: LeaseTime): void => {
    if (renewNowRanFor === since) return;
    renewNowRanFor = since;
    startRenewal();
  };

  const markLost = (successor: string): StoreFailure => {
    leader = successor;
    if (lost !== undefined) return lost;
    lost = new StoreFailure("deposed", `another replica leads now: ${leader || "its name is not known"}`);
    cancelRenewal();
    for (const listener of listeners.splice(0)) listener(lost);
    return lost;
  };

  /** How long to wait before the next poll; undefined: this replica leads. */
  const pollOnce = async (): Promise<number | undefined> => {
    const maxWaitMs = leaseMs / POLLS_PER_LEASE;
    try {
      const result = await onResult(await lease.poll(onRead));
      return result.isHeld ? undefined : Math.min(Math.max(result.freeInMs, MIN_WAIT_MS), maxWaitMs);
    } catch (error) {
      // The ledger is damaged or written by a newer broker: retrying does not help.
      if (error instanceof StoreFailure) throw error;
      problem = onError(`${lease.server} could not be asked who leads`, error);
      return maxWaitMs;
    }
  };

  const state = (): LeadershipState => {
    if (lost !== undefined) return { role: "deposed", leader };
    if (renewedAt === undefined)
      return { role: "standby", leader, ...(problem === undefined ? {} : { problem }) };
    if (isLeaseValid(renewedAt, leaseTime(clock), leaseMs)) return { role: "leader" };
    if (clock.monotonicMs() - renewedAt.monotonicMs < leaseMs) renewNow(renewedAt);
    return { role: "unsure" };
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
    tryLead: async () => {
      if (state().role === "leader") return undefined;
      const result = await onResult(await lease.tryAcquire());
      return result.isHeld ? undefined : result.holder;
    },
    acquire: async () => {
      while (!isClosed) {
        const waitMs = await pollOnce();
        if (waitMs === undefined) return true;
        if (!isClosed) await pause(waitMs);
      }
      return false;
    },
    renewed,
    markLost,
    lost: () => lost,
    release: async () => {
      isClosed = true;
      cancelRenewal();
      wake();
      const isHeld = renewedAt !== undefined && lost === undefined;
      renewedAt = undefined;
      if (!isHeld) return;
      // A renewal that is under way would acquire the released lease again, and nobody would hold it.
      await renewals;
      try {
        await lease.release();
      } catch (error) {
        onError("the lease could not be given back", error);
      }
    },
    state,
    predecessor: () => leader,
    onLost: (listener) => {
      if (lost === undefined) listeners.push(listener);
      else listener(lost);
    },
  };
}

/** The leadership state of a replica, as far as the replica can know. */
export type LeadershipState =
  | { readonly role: "leader" }
  /** Waits to become the leader. */
  | { readonly role: "standby"; readonly leader: string; readonly problem?: string }
  /** Was the leader but may have lost the lease: it could not renew in time, or its clocks disagree. */
  | { readonly role: "unsure" }
  /** Another replica leads: this process never leads again. */
  | { readonly role: "deposed"; readonly leader: string };

/** Leadership in a store that several replicas share. One replica leads, the others are standby. A process waits, leads, and ends; it never goes back. */
export interface Leadership {
  /** Connects to the store and creates missing tables or objects. Rejects with a problem that an operator must fix. */
  readonly prepare: () => Promise<void>;
  /** Resolves with true when this replica leads, with false when the store was closed before. */
  readonly acquire: () => Promise<boolean>;
  /**
   * Returns `leader` while no other replica can have written, by this machine's own clocks; this also holds right after a
   * pause. If the clocks disagree, the machine was suspended or its clock was set: then `unsure`, and the store is asked.
   */
  readonly state: () => LeadershipState;
  /** The last known leader before this replica; empty if unknown. */
  readonly predecessor: () => string;
  /** Called once, when another replica has taken over. */
  readonly onLost: (listener: (failure: StoreFailure) => void) => void;
}
