import { Fault } from "@resource-broker/base";
import { type Committed, createEngine, type Engine, NO_OBSERVER } from "@resource-broker/broker";
import { idMaker } from "@resource-broker/broker/testing";
import {
  type Command,
  MARKET_PROTOCOL,
  type Policy,
  queuePlaces,
  type Reply,
  type Reservation,
} from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";
import type { InvariantChecker } from "../invariants/invariant-checker.ts";
import type { FaultRates } from "./faults.ts";
import type { Findings } from "./findings.ts";
import type { ApiCall, ApiReply } from "./network.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimDisk } from "./sim-disk.ts";
import { SimProcess, type WallClock } from "./sim-process.ts";
import { simStore } from "./sim-store.ts";

const RESTART_MS = 3000;

export interface BrokerNodeDeps {
  readonly scheduler: Scheduler;
  readonly wall: WallClock;
  readonly disk: SimDisk;
  readonly random: SeededRandom;
  readonly rates: FaultRates;
  readonly findings: Findings;
  readonly checker: InvariantChecker;
  readonly policy: Policy;
  readonly maxWaiting: number;
  /** Tells the parties of what was committed. */
  readonly notify: (reservation: Reservation) => void;
  readonly note: (line: string) => void;
}

interface BrokerRun {
  readonly engine: Engine;
  readonly process: SimProcess;
  isUp: boolean;
}

/** The broker's machine: a real engine in a process that can be killed at any moment, and a supervisor that restarts it. */
export class BrokerNode {
  readonly #deps: BrokerNodeDeps;
  readonly #ids: ReturnType<typeof idMaker>;
  #run: BrokerRun | undefined;
  #decisions = 0;

  constructor(deps: BrokerNodeDeps) {
    this.#deps = deps;
    const { random } = deps;
    this.#ids = idMaker((size) => Uint8Array.from({ length: size }, () => random.below(256)));
  }

  /** The engine, while it takes calls. */
  get engine(): Engine | undefined {
    return this.#run?.isUp === true ? this.#run.engine : undefined;
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  launch(): void {
    if (this.#run !== undefined) return;
    const { scheduler, wall, random, disk, rates, findings, checker, policy, maxWaiting } = this.#deps;
    const process = new SimProcess(scheduler, wall, random);
    const store = simStore({
      disk,
      process,
      random,
      rates,
      findings,
      onBatch: (batch) => checker.decided(batch),
      onFault: () => checker.allowLateExpiry(),
      onOpened: (contents) => checker.opened(contents, process),
    });
    const engine = createEngine(
      { policy, maxWaiting },
      {
        store,
        clock: process,
        observer: {
          ...NO_OBSERVER,
          commandFailed: (kind, error) => findings.expect(false, () => `${kind} threw: ${error.stack}`),
          listenerFailed: (error) => findings.expect(false, () => `a listener threw: ${error.stack}`),
        },
        defer: (task) => void process.later(random.below(100) / 100, "the next batch is due", task),
        newDecisionId: () => `dec-queue-${++this.#decisions}`,
        onFatal: (failure) => findings.expect(false, () => `the broker gave up: ${failure.message}`),
      },
    );
    const run: BrokerRun = { engine, process, isUp: false };
    this.#run = run;
    engine.start().then(
      () => this.#up(run),
      (error: unknown) => this.#down(run, `cannot start: ${String(error)}`),
    );
  }

  /** A process that is killed leaves what it wrote to the system; when the power fails, only what was synced is left. */
  crash(how: "kill" | "power failure"): void {
    const run = this.#run;
    if (run !== undefined) this.#down(run, how);
    if (how === "power failure") this.#deps.disk.losePower(this.#deps.random);
  }

  pause(milliseconds: number): void {
    this.#run?.process.pause(milliseconds);
  }

  /** SIGTERM. Whoever was taken in is answered before the end. */
  stop(): void {
    const run = this.#run;
    if (run?.isUp !== true) return;
    run.isUp = false;
    run.engine.stop().then(
      () => this.#down(run, "stopped"),
      (error: unknown) => this.#deps.findings.expect(false, () => `stopping failed: ${String(error)}`),
    );
  }

  /** As the API would: commands to the engine, reads from what is committed. */
  readonly serve = (call: ApiCall, answer: (answer: ApiReply) => void): void => {
    const run = this.#run;
    if (run?.isUp !== true || run.process.isPaused) return;
    const { ledger } = run.engine;
    switch (call.kind) {
      case "reserve":
        return this.#submit(run, this.#reserve(call), answer);
      case "command":
        return this.#submit(run, call.command, answer);
      case "read":
        return answer({
          kind: "reservation",
          reservation: ledger.reservations.get(call.id),
          waiting: ledger.waiting.byId.get(call.id),
        });
      case "read-free":
        return answer({ kind: "free", cpuMillis: ledger.accounts.get(call.clusterId)?.available.cpuMillis });
      case "read-queue": {
        const moment = { now: run.engine.now(), policy: run.engine.policy };
        const places = queuePlaces(ledger, moment, ({ requester }) => requester === call.clusterId);
        return answer({ kind: "queue", waiting: Array.from(places, ({ entry }) => entry) });
      }
      case "list-instructions": {
        const lending = ledger.accounts.get(call.clusterId)?.asProvider.values() ?? [];
        return answer({ kind: "instructions", reservations: [...lending] });
      }
    }
  };

  #reserve(call: Extract<ApiCall, { kind: "reserve" }>): Command {
    const { requester, key } = call;
    const ids = { reservationId: this.#ids.reservation(requester, key), decisionId: this.#ids.decision() };
    return { ...call, ...ids, protocol: MARKET_PROTOCOL };
  }

  #submit({ engine, process }: BrokerRun, command: Command, answer: (answer: ApiReply) => void): void {
    const { checker, findings } = this.#deps;
    checker.asked(command);
    const submitted = engine.submit(command);
    const post = checker.posted(command, engine.ledger);
    submitted.then(
      (reply: Reply) => {
        if (process.isDead) return;
        checker.answered(command, reply, post);
        answer({ kind: "reply", reply });
      },
      (error: unknown) => {
        const isExpected =
          error instanceof Fault && (error.code === "store-unavailable" || error.code === "overloaded");
        findings.expect(isExpected, () => `${command.kind} was answered with ${String(error)}`);
        if (!process.isDead) answer({ kind: "busy" });
      },
    );
  }

  #up(run: BrokerRun): void {
    if (run.process.isDead) return;
    run.isUp = true;
    this.#deps.checker.started(run.engine);
    run.engine.onCommit((commit) => this.#notify(run, commit));
    this.#deps.note(`the broker is up at commit ${run.engine.commitNumber}`);
  }

  #down(run: BrokerRun, why: string): void {
    if (run.process.isDead) return;
    const { note, checker, scheduler, random } = this.#deps;
    run.process.kill();
    this.#run = undefined;
    checker.ended();
    note(`the broker is down: ${why}`);
    scheduler.after(random.below(RESTART_MS), "the broker is started", () => this.launch());
  }

  #notify({ engine }: BrokerRun, commit: Committed): void {
    this.#deps.checker.notified(commit);
    for (const event of commit.events) {
      const id = "reservation" in event ? event.reservation.id : "id" in event ? event.id : undefined;
      const reservation = id === undefined ? undefined : engine.ledger.reservations.get(id);
      if (reservation !== undefined) this.#deps.notify(reservation);
    }
  }
}
