import type { Clock } from "@resource-broker/runtime";
import type { Leadership, Standing } from "../leadership.ts";
import { isHeld, type LeaseMoment, leaseMoment } from "../lease-time.ts";
import { StoreFailure } from "../store.ts";
import type { Candidate, LeaseRow, LeaseView } from "./lease.ts";
import type { Line } from "./line.ts";
import type { Session } from "./session.ts";

/** Renewals per lease duration: one or two of them may fail. After a failure the interval is halved. */
const RENEWALS = 3;
/** Polls of a standby per lease duration: after a clean shutdown, another replica leads within a second. */
const LOOKS = 6;
const SHORTEST_WAIT_MS = 20;

export interface KeeperDeps {
  readonly row: LeaseRow;
  readonly line: Line;
  readonly candidate: Candidate;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Logs an error of background work and returns its message. */
  readonly onTrouble: (doing: string, error: unknown) => string;
}

/** Acquires and renews the lease, and reports the leadership state. */
export interface LeaseKeeper extends Pick<Leadership, "win" | "standing" | "predecessor" | "onLost"> {
  /** Takes the lease if it is free. */
  readonly take: () => Promise<boolean>;
  /** The epoch of the current or last term. Throws a StoreFailure if this process never led. */
  readonly epoch: () => number;
  /** The lease was prolonged by a statement that was sent at this moment. */
  readonly prolonged: (sentAt: LeaseMoment) => void;
  /** Records that the term is over and notifies listeners. */
  readonly lose: (session: Session) => Promise<StoreFailure>;
  /** Lets the next one in. */
  readonly release: () => Promise<void>;
}

interface Term {
  readonly epoch: number;
  /** By this machine's clocks: counted from when the statement was sent, so always before the database's. */
  prolongedAt: LeaseMoment;
}

export function leaseKeeper(deps: KeeperDeps): LeaseKeeper {
  const { row, line, candidate, leaseMs, clock, onTrouble } = deps;
  const listeners: ((failure: StoreFailure) => void)[] = [];
  let term: Term | undefined;
  let leader = "";
  let problem: string | undefined;
  let lost: StoreFailure | undefined;
  let isClosed = false;
  /** The lease expires before the next poll: then it is acquired without reading it first. */
  let isDue = false;
  /** The renewal after which the clocks were found to disagree. */
  let askedAfter: LeaseMoment | undefined;
  let wake = (): void => undefined;
  let cancelRenewal = (): void => undefined;

  const take = (): Promise<boolean> =>
    line.use(async (session) => {
      const sentAt = leaseMoment(clock);
      const epoch = await row.take(session, candidate);
      if (epoch === undefined) return false;
      term = { epoch, prolongedAt: sentAt };
      plan(leaseMs / RENEWALS);
      return true;
    });

  const plan = (delayMs: number): void => {
    cancelRenewal();
    if (!isClosed && lost === undefined) cancelRenewal = clock.after(delayMs, () => void renew());
  };

  const renew = async (): Promise<void> => {
    try {
      if (term !== undefined && isRenewalDue(term)) await prolong(term);
      plan(leaseMs / RENEWALS);
    } catch (error) {
      onTrouble("the lease could not be renewed", error);
      plan(leaseMs / RENEWALS / 2);
    }
  };

  const isRenewalDue = ({ prolongedAt }: Term): boolean =>
    clock.monotonicMs() - prolongedAt.monotonicMs >= leaseMs / RENEWALS ||
    !isHeld(prolongedAt, leaseMoment(clock), leaseMs);

  /** The clocks disagree: renew now to find out who leads, instead of waiting for the next renewal. */
  const ask = ({ prolongedAt }: Term): void => {
    if (askedAfter === prolongedAt) return;
    askedAfter = prolongedAt;
    void renew();
  };

  const prolong = (current: Term): Promise<void> =>
    line.use(async (session) => {
      const sentAt = leaseMoment(clock);
      if ((await row.renew(session, current.epoch)) === undefined) await lose(session);
      else prolonged(sentAt);
    });

  const prolonged = (sentAt: LeaseMoment): void => {
    if (term !== undefined && sentAt.monotonicMs >= term.prolongedAt.monotonicMs) term.prolongedAt = sentAt;
  };

  const lose = async (session: Session): Promise<StoreFailure> => {
    leader = (await row.look(session).catch(() => undefined))?.holder ?? leader;
    if (lost !== undefined) return lost;
    lost = new StoreFailure("deposed", `another replica leads now: ${leader || "its name is not known"}`);
    cancelRenewal();
    for (const listener of listeners.splice(0)) listener(lost);
    return lost;
  };

  const look = async (): Promise<LeaseView> => {
    const view = await line.use(row.look);
    leader = view.holder;
    problem = undefined;
    return view;
  };

  /** How long to wait before the next look; undefined: this replica leads. */
  const tryOnce = async (): Promise<number | undefined> => {
    const longestMs = leaseMs / LOOKS;
    try {
      if (isDue && (await take())) return undefined;
      const { leftMs, instance } = await look();
      const isOwn = instance === candidate.instance;
      if ((leftMs <= 0 || isOwn) && (await take())) return undefined;
      isDue = leftMs <= longestMs;
      return Math.min(Math.max(leftMs, SHORTEST_WAIT_MS), longestMs);
    } catch (error) {
      // The ledger is damaged or written by a newer broker: retrying does not help.
      if (error instanceof StoreFailure) throw error;
      problem = onTrouble("the database could not be asked who leads", error);
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

  const win = async (): Promise<boolean> => {
    while (!isClosed) {
      const waitMs = await tryOnce();
      if (waitMs === undefined) return true;
      if (!isClosed) await pause(waitMs);
    }
    return false;
  };

  const standing = (): Standing => {
    if (lost !== undefined) return { role: "deposed", leader };
    if (term === undefined) return { role: "standby", leader, ...(problem === undefined ? {} : { problem }) };
    if (isHeld(term.prolongedAt, leaseMoment(clock), leaseMs)) return { role: "leader" };
    if (clock.monotonicMs() - term.prolongedAt.monotonicMs < leaseMs) ask(term);
    return { role: "unsure" };
  };

  const release = async (): Promise<void> => {
    isClosed = true;
    cancelRenewal();
    wake();
    const ending = term;
    term = undefined;
    if (ending === undefined || lost !== undefined) return;
    await line
      .use((session) => row.release(session, ending.epoch))
      .catch((error: unknown) => onTrouble("the lease could not be given back", error));
  };

  return {
    take,
    win,
    epoch: () => {
      if (term === undefined) throw new StoreFailure("not-committed", "the store is not open");
      return term.epoch;
    },
    prolonged,
    lose,
    release,
    standing,
    predecessor: () => leader,
    onLost: (listener) => {
      if (lost === undefined) listeners.push(listener);
      else listener(lost);
    },
  };
}
