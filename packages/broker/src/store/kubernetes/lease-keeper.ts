import type { Clock } from "@resource-broker/runtime";
import type { Leadership, Standing } from "../leadership.ts";
import { isHeld, type LeaseMoment, leaseMoment } from "../lease-time.ts";
import { StoreFailure } from "../store.ts";
import type { Holding, LeaseObject } from "./lease-object.ts";

/** Renewals per lease duration: one or two of them may fail. After a failure the interval is halved. */
export const RENEWALS = 3;
/** Polls of a standby per lease duration: after a clean shutdown, another replica leads within a second. */
const LOOKS = 6;
const SHORTEST_WAIT_MS = 20;

export interface KeeperDeps {
  /** Created on first use, when the API server is known. */
  readonly lease: () => Promise<LeaseObject>;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Reads the manifest to find out who leads, if the lease cannot tell; calls `lose` if it is another replica. */
  readonly verify: () => Promise<void>;
  /** Logs an error of background work and returns its message. */
  readonly onTrouble: (doing: string, error: unknown) => string;
}

/** Acquires and renews the lease, and reports the leadership state. */
export interface LeaseKeeper extends Pick<Leadership, "win" | "standing" | "predecessor" | "onLost"> {
  /** Takes the lease if it is free; else says who has it. */
  readonly take: () => Promise<Holding>;
  /** Records that another replica leads and notifies listeners. */
  readonly lose: (leader: string) => StoreFailure;
  readonly lost: () => StoreFailure | undefined;
  /** Releases the lease. */
  readonly release: () => Promise<void>;
}

export function leaseKeeper({ lease, leaseMs, clock, verify, onTrouble }: KeeperDeps): LeaseKeeper {
  const listeners: ((failure: StoreFailure) => void)[] = [];
  /** By this machine's clocks, from before the renewal was sent: others count from later. */
  let heldSince: LeaseMoment | undefined;
  let leader = "";
  let problem: string | undefined;
  let lost: StoreFailure | undefined;
  let isClosed = false;
  /** The renewal after which the clocks were found to disagree. */
  let askedAfter: LeaseMoment | undefined;
  let wake = (): void => undefined;
  let cancelRenewal = (): void => undefined;

  const take = async (): Promise<Holding> => {
    const sentAt = leaseMoment(clock);
    const holding = await (await lease()).hold();
    problem = undefined;
    if (holding.isMine) await held(sentAt, holding.wasMine);
    else leader = holding.holder;
    return holding;
  };

  const held = async (sentAt: LeaseMoment, wasMine: boolean): Promise<void> => {
    // Another replica may have led and ended while this process was paused: the local state may be outdated.
    if (heldSince !== undefined && !wasMine) await verify();
    if (lost !== undefined) return;
    heldSince = sentAt;
    plan(leaseMs / RENEWALS);
  };

  const plan = (delayMs: number): void => {
    cancelRenewal();
    if (!isClosed && lost === undefined) cancelRenewal = clock.after(delayMs, () => void renew());
  };

  const renew = async (): Promise<void> => {
    try {
      const holding = await take();
      if (!holding.isMine) lose(holding.holder);
    } catch (error) {
      onTrouble("the lease could not be renewed", error);
      plan(leaseMs / RENEWALS / 2);
    }
  };

  /** The clocks disagree: renew now to find out who leads, instead of waiting for the next renewal. */
  const ask = (renewedAt: LeaseMoment): void => {
    if (askedAfter === renewedAt) return;
    askedAfter = renewedAt;
    void renew();
  };

  const lose = (successor: string): StoreFailure => {
    leader = successor;
    if (lost !== undefined) return lost;
    lost = new StoreFailure("deposed", `another replica leads now: ${leader || "its name is not known"}`);
    cancelRenewal();
    for (const listener of listeners.splice(0)) listener(lost);
    return lost;
  };

  /** How long to wait before the next look; undefined: this replica leads. */
  const tryOnce = async (): Promise<number | undefined> => {
    const longestMs = leaseMs / LOOKS;
    try {
      const holding = await take();
      if (holding.isMine) return undefined;
      return Math.min(Math.max(holding.freeInMs, SHORTEST_WAIT_MS), longestMs);
    } catch (error) {
      problem = onTrouble("the API server could not be asked who leads", error);
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
    take,
    win: async () => {
      while (!isClosed) {
        const waitMs = await tryOnce();
        if (waitMs === undefined) return true;
        if (!isClosed) await pause(waitMs);
      }
      return false;
    },
    lose,
    lost: () => lost,
    release: async () => {
      isClosed = true;
      cancelRenewal();
      wake();
      const isHeld = heldSince !== undefined && lost === undefined;
      heldSince = undefined;
      if (!isHeld) return;
      try {
        await (await lease()).release();
      } catch (error) {
        onTrouble("the lease could not be given back", error);
      }
    },
    standing: (): Standing => {
      if (lost !== undefined) return { role: "deposed", leader };
      if (heldSince === undefined)
        return { role: "standby", leader, ...(problem === undefined ? {} : { problem }) };
      if (isHeld(heldSince, leaseMoment(clock), leaseMs)) return { role: "leader" };
      if (clock.monotonicMs() - heldSince.monotonicMs < leaseMs) ask(heldSince);
      return { role: "unsure" };
    },
    predecessor: () => leader,
    onLost: (listener) => {
      if (lost === undefined) listeners.push(listener);
      else listener(lost);
    },
  };
}
