import type { Clock } from "@resource-broker/runtime";
import type { Leadership, LeadershipState } from "../common/leadership.ts";
import { isLeaseValid, type LeaseTime, leaseTime } from "../common/lease-time.ts";
import { StoreFailure } from "../store.ts";
import type { Connection } from "./connection.ts";
import type { Candidate, LeaseRow, LeaseView } from "./lease.ts";
import type { Session } from "./session.ts";

/** Renewals per lease duration: one or two of them may fail. After a failure the interval is halved. */
const RENEWALS_PER_LEASE = 3;
/** Polls of a standby per lease duration: after a clean shutdown, another replica leads within a second. */
const POLLS_PER_LEASE = 6;
const MIN_WAIT_MS = 20;

export interface LeaderElectorDeps {
  readonly row: LeaseRow;
  readonly connection: Connection;
  readonly candidate: Candidate;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Logs an error of background work and returns its message. */
  readonly onError: (doing: string, error: unknown) => string;
}

/** Acquires and renews the lease, and reports the leadership state. */
export interface LeaderElector extends Pick<Leadership, "acquire" | "state" | "predecessor" | "onLost"> {
  /** Takes the lease if it is free. */
  readonly tryAcquire: () => Promise<boolean>;
  /** The epoch of the current or last term. Throws a StoreFailure if this process never led. */
  readonly epoch: () => number;
  /** The lease was prolonged by a statement that was sent at this moment. */
  readonly renewed: (sentAt: LeaseTime) => void;
  /** Records that the term is over and notifies listeners. */
  readonly markLost: (session: Session) => Promise<StoreFailure>;
  /** Lets the next one in. */
  readonly release: () => Promise<void>;
}

interface Term {
  readonly epoch: number;
  /** By this machine's clocks: counted from when the statement was sent, so always before the database's. */
  renewedAt: LeaseTime;
}

export function leaderElector(deps: LeaderElectorDeps): LeaderElector {
  const { row, connection, candidate, leaseMs, clock, onError } = deps;
  const listeners: ((failure: StoreFailure) => void)[] = [];
  let term: Term | undefined;
  let leader = "";
  let problem: string | undefined;
  let lost: StoreFailure | undefined;
  let isClosed = false;
  /** The lease expires before the next poll: then it is acquired without reading it first. */
  let isDue = false;
  /** The renewal after which the clocks were found to disagree. */
  let renewedNowAfter: LeaseTime | undefined;
  let wake = (): void => undefined;
  let cancelRenewal = (): void => undefined;

  const tryAcquire = (): Promise<boolean> =>
    connection.use(async (session) => {
      const sentAt = leaseTime(clock);
      const epoch = await row.tryAcquire(session, candidate);
      if (epoch === undefined) return false;
      term = { epoch, renewedAt: sentAt };
      scheduleRenewal(leaseMs / RENEWALS_PER_LEASE);
      return true;
    });

  const scheduleRenewal = (delayMs: number): void => {
    cancelRenewal();
    if (!isClosed && lost === undefined) cancelRenewal = clock.after(delayMs, () => void renew());
  };

  const renew = async (): Promise<void> => {
    try {
      if (term !== undefined && isRenewalDue(term)) await renewTerm(term);
      scheduleRenewal(leaseMs / RENEWALS_PER_LEASE);
    } catch (error) {
      onError("the lease could not be renewed", error);
      scheduleRenewal(leaseMs / RENEWALS_PER_LEASE / 2);
    }
  };

  const isRenewalDue = ({ renewedAt }: Term): boolean =>
    clock.monotonicMs() - renewedAt.monotonicMs >= leaseMs / RENEWALS_PER_LEASE ||
    !isLeaseValid(renewedAt, leaseTime(clock), leaseMs);

  /** The clocks disagree: renew now to find out who leads, instead of waiting for the next renewal. */
  const renewNow = ({ renewedAt }: Term): void => {
    if (renewedNowAfter === renewedAt) return;
    renewedNowAfter = renewedAt;
    void renew();
  };

  const renewTerm = (current: Term): Promise<void> =>
    connection.use(async (session) => {
      const sentAt = leaseTime(clock);
      if ((await row.renew(session, current.epoch)) === undefined) await markLost(session);
      else renewed(sentAt);
    });

  const renewed = (sentAt: LeaseTime): void => {
    if (term !== undefined && sentAt.monotonicMs >= term.renewedAt.monotonicMs) term.renewedAt = sentAt;
  };

  const markLost = async (session: Session): Promise<StoreFailure> => {
    leader = (await row.read(session).catch(() => undefined))?.holder ?? leader;
    if (lost !== undefined) return lost;
    lost = new StoreFailure("deposed", `another replica leads now: ${leader || "its name is not known"}`);
    cancelRenewal();
    for (const listener of listeners.splice(0)) listener(lost);
    return lost;
  };

  const readLease = async (): Promise<LeaseView> => {
    const view = await connection.use(row.read);
    leader = view.holder;
    problem = undefined;
    return view;
  };

  /** How long to wait before the next look; undefined: this replica leads. */
  const tryOnce = async (): Promise<number | undefined> => {
    const longestMs = leaseMs / POLLS_PER_LEASE;
    try {
      if (isDue && (await tryAcquire())) return undefined;
      const { leftMs, instance } = await readLease();
      const isOwn = instance === candidate.instance;
      if ((leftMs <= 0 || isOwn) && (await tryAcquire())) return undefined;
      isDue = leftMs <= longestMs;
      return Math.min(Math.max(leftMs, MIN_WAIT_MS), longestMs);
    } catch (error) {
      // The ledger is damaged or written by a newer broker: retrying does not help.
      if (error instanceof StoreFailure) throw error;
      problem = onError("the database could not be asked who leads", error);
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

  const acquire = async (): Promise<boolean> => {
    while (!isClosed) {
      const waitMs = await tryOnce();
      if (waitMs === undefined) return true;
      if (!isClosed) await pause(waitMs);
    }
    return false;
  };

  const state = (): LeadershipState => {
    if (lost !== undefined) return { role: "deposed", leader };
    if (term === undefined) return { role: "standby", leader, ...(problem === undefined ? {} : { problem }) };
    if (isLeaseValid(term.renewedAt, leaseTime(clock), leaseMs)) return { role: "leader" };
    if (clock.monotonicMs() - term.renewedAt.monotonicMs < leaseMs) renewNow(term);
    return { role: "unsure" };
  };

  const release = async (): Promise<void> => {
    isClosed = true;
    cancelRenewal();
    wake();
    const ending = term;
    term = undefined;
    if (ending === undefined || lost !== undefined) return;
    await connection
      .use((session) => row.release(session, ending.epoch))
      .catch((error: unknown) => onError("the lease could not be given back", error));
  };

  return {
    tryAcquire,
    acquire,
    epoch: () => {
      if (term === undefined) throw new StoreFailure("not-committed", "the store is not open");
      return term.epoch;
    },
    renewed,
    markLost,
    release,
    state,
    predecessor: () => leader,
    onLost: (listener) => {
      if (lost === undefined) listeners.push(listener);
      else listener(lost);
    },
  };
}
