import type { Policy, Reservation } from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";
import { InvariantChecker } from "../invariants/invariant-checker.ts";
import { BrokerNode } from "./broker-node.ts";
import { type FaultRates, heal } from "./faults.ts";
import { Findings, Trace } from "./findings.ts";
import { Network } from "./network.ts";
import { Scheduler } from "./scheduler.ts";
import { SimDisk } from "./sim-disk.ts";
import { WallClock } from "./sim-process.ts";

const START = Date.UTC(2026, 0, 5, 12);
const DAY_MS = 24 * 60 * 60 * 1000;
const JUMPS_MS = [2000, 60_000, 2 * DAY_MS] as const;
const LONGEST_PAUSE_MS = 20_000;
const LONGEST_FULL_DISK_MS = 10_000;

export interface EnvironmentOptions {
  readonly random: SeededRandom;
  readonly rates: FaultRates;
  readonly policy: Policy;
  readonly maxWaiting: number;
  /** How far the wall clock may jump at once. */
  readonly longestJumpMs: number;
  /** Who may be cut off. */
  readonly parties: readonly string[];
  readonly notify: (reservation: Reservation) => void;
}

/** Everything around the actors: one broker on one machine, the network to it, and what befalls both. */
export class Environment {
  readonly #options: EnvironmentOptions;
  readonly random: SeededRandom;
  readonly scheduler: Scheduler;
  readonly disk = new SimDisk("the one ledger");
  readonly findings = new Findings();
  readonly trace: Trace;
  readonly network: Network;
  readonly checker: InvariantChecker;
  readonly broker: BrokerNode;
  readonly #wall: WallClock;
  readonly tally = { steps: 0, kills: 0, powerFailures: 0, stops: 0 };

  constructor(options: EnvironmentOptions) {
    this.#options = options;
    const { random, rates, policy, maxWaiting, notify } = options;
    this.random = random.fork(1);
    this.scheduler = new Scheduler(random.fork(2));
    const { scheduler, disk, findings } = this;
    this.#wall = new WallClock(scheduler, START);
    this.trace = new Trace(() => scheduler.now);
    this.network = new Network({ scheduler, rates, random: random.fork(3) });
    this.checker = new InvariantChecker({ disk, findings, policy });
    const { checker, trace } = this;
    this.broker = new BrokerNode({
      scheduler,
      rates,
      findings,
      disk,
      checker,
      policy,
      maxWaiting,
      notify,
      wall: this.#wall,
      random: random.fork(4),
      note: (line) => trace.note(line),
    });
    this.network.serve = this.broker.serve;
  }

  /** Takes step after step until it is over, or a promise is broken, and looks at everything after each. */
  async runUntil(isOver: () => boolean): Promise<void> {
    while (!isOver() && this.findings.problem === undefined) {
      const step = this.scheduler.next();
      if (step === undefined) return;
      this.tally.steps++;
      this.trace.note(step.name);
      step.run();
      // Ticks run when no promise is left to settle: then all that follows from this step has happened.
      await new Promise<void>((resolve) => process.nextTick(resolve));
      this.checker.check();
      this.#injectFaults();
    }
  }

  async pass(milliseconds: number): Promise<void> {
    const until = this.scheduler.now + milliseconds;
    await this.runUntil(() => this.scheduler.now >= until);
  }

  /** Faults stop: from here on everything must come right by itself. */
  heal(): void {
    this.trace.note("the world is healed");
    heal(this.#options.rates);
    this.network.heal();
    this.disk.isFull = false;
    this.checker.allowLateExpiry();
  }

  /** What may happen between any two steps. */
  #injectFaults(): void {
    const { crash, jumpWall, leap, pause, partition, fillDisk } = this.#options.rates;
    const { random } = this;
    if (random.chance(crash)) this.#crash();
    if (random.chance(jumpWall)) this.#jumpWall();
    if (random.chance(partition)) this.network.cut(random.pick(this.#options.parties) ?? "");
    if (random.chance(fillDisk)) this.#fillDisk();
    if (random.chance(pause)) this.#pause();
    if (random.chance(leap)) this.#leap();
  }

  #crash(): void {
    const roll = this.random.below(10);
    if (roll === 0) {
      this.tally.stops++;
      this.broker.stop();
    } else if (roll < 5) {
      this.tally.kills++;
      this.broker.crash("kill");
    } else {
      this.tally.powerFailures++;
      this.broker.crash("power failure");
    }
  }

  #jumpWall(): void {
    const far = Math.min(this.random.pick(JUMPS_MS) ?? 0, this.#options.longestJumpMs);
    this.#wall.jump(this.random.between(-far, far));
  }

  #pause(): void {
    this.trace.note("the broker is stopped for a while");
    this.broker.pause(this.random.below(LONGEST_PAUSE_MS));
    this.checker.allowLateExpiry(LONGEST_PAUSE_MS);
  }

  #leap(): void {
    this.trace.note("everything sleeps for more than a day");
    this.scheduler.leap(DAY_MS + this.random.below(DAY_MS));
    this.checker.allowLateExpiry();
  }

  #fillDisk(): void {
    this.trace.note("the disk is full");
    this.disk.isFull = true;
    this.scheduler.after(this.random.below(LONGEST_FULL_DISK_MS), "the disk has room again", () => {
      this.disk.isFull = false;
    });
  }
}
