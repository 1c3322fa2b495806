import type { MachineTime } from "@resource-broker/runtime";
import type { Leadership, Standing } from "../leadership.ts";
import { isHeld, type LeaseMoment, leaseMoment } from "../lease-time.ts";
import { StoreFailure } from "../store.ts";
import type { Holding, LeaseObject } from "./lease-object.ts";

/** Renewed three times in a lease's life, so that one or two may fail; twice as often after a failure. */
export const RENEWALS = 3;
/** A standby looks so many times in a lease's life: a leader that ends in good order is followed within a second. */
const LOOKS = 6;
const SHORTEST_WAIT_MS = 20;

export interface KeeperDeps {
  /** Made when it is needed: before that nobody knows where the API server is. */
  readonly lease: () => Promise<LeaseObject>;
  readonly leaseMs: number;
  readonly machine: MachineTime;
  /** Asks the head who leads, where the lease alone cannot tell; `lose` is called where it is another one. */
  readonly verify: () => Promise<void>;
  /** Says what went wrong while nobody waits for an answer. */
  readonly onTrouble: (doing: string, error: unknown) => string;
}

/** Waits for the lease, keeps it, and knows whether it has been kept. */
export interface LeaseKeeper extends Pick<Leadership, "win" | "standing" | "predecessor" | "onLost"> {
  /** Takes the lease if it is free; else says who has it. */
  readonly take: () => Promise<Holding>;
  /** Another replica leads: tells so whoever listens. */
  readonly lose: (leader: string) => StoreFailure;
  readonly lost: () => StoreFailure | undefined;
  /** Lets the next one in. */
  readonly release: () => Promise<void>;
}

export function leaseKeeper({ lease, leaseMs, machine, verify, onTrouble }: KeeperDeps): LeaseKeeper {
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
    const sentAt = leaseMoment(machine);
    const holding = await (await lease()).hold();
    problem = undefined;
    if (holding.isMine) await held(sentAt, holding.wasMine);
    else leader = holding.holder;
    return holding;
  };

  const held = async (sentAt: LeaseMoment, wasMine: boolean): Promise<void> => {
    // Somebody may have led while this process slept, and be gone again: what is known here is old then.
    if (heldSince !== undefined && !wasMine) await verify();
    if (lost !== undefined) return;
    heldSince = sentAt;
    plan(leaseMs / RENEWALS);
  };

  const plan = (delayMs: number): void => {
    cancelRenewal();
    if (!isClosed && lost === undefined) cancelRenewal = machine.after(delayMs, () => void renew());
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

  /** The clocks disagree: the API server is asked at once who leads, and not when the next renewal is due. */
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
      const cancel = machine.after(delayMs, resolve);
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
      if (isHeld(heldSince, leaseMoment(machine), leaseMs)) return { role: "leader" };
      if (machine.monotonicMs() - heldSince.monotonicMs < leaseMs) ask(heldSince);
      return { role: "unsure" };
    },
    predecessor: () => leader,
    onLost: (listener) => {
      if (lost === undefined) listeners.push(listener);
      else listener(lost);
    },
  };
}
