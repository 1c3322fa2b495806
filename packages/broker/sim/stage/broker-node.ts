import { type Committed, createEngine, type Engine, NO_OBSERVER } from "@resource-broker/broker";
import { Fault } from "@resource-broker/contract";
import type { Command, Policy, Reply, Reservation } from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";
import { idMaker } from "../../src/interface/shared/make-ids.ts";
import type { Answer, Ask } from "./ask.ts";
import type { FaultRates } from "./faults.ts";
import type { Findings } from "./findings.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimDisk } from "./sim-disk.ts";
import { SimProcess, type WallClock } from "./sim-process.ts";
import { simStore } from "./sim-store.ts";
import type { Witness } from "../oracle/witness.ts";

const RESTART_MS = 3000;

export interface BrokerNodeDeps {
  readonly scheduler: Scheduler;
  readonly wall: WallClock;
  readonly disk: SimDisk;
  readonly random: SeededRandom;
  readonly rates: FaultRates;
  readonly findings: Findings;
  readonly witness: Witness;
  readonly policy: Policy;
  readonly maxWaiting: number;
  /** Tells the parties of what was committed. */
  readonly tell: (reservation: Reservation) => void;
  readonly note: (line: string) => void;
}

interface Life {
  readonly engine: Engine;
  readonly process: SimProcess;
  isUp: boolean;
}

/** The broker's machine: a real engine in a process that can be killed at any moment, and a supervisor that restarts it. */
export class BrokerNode {
  readonly #deps: BrokerNodeDeps;
  readonly #ids: ReturnType<typeof idMaker>;
  #life: Life | undefined;

  constructor(deps: BrokerNodeDeps) {
    this.#deps = deps;
    const { random } = deps;
    this.#ids = idMaker((size) => Uint8Array.from({ length: size }, () => random.below(256)));
  }

  /** The engine, while it takes calls. */
  get engine(): Engine | undefined {
    return this.#life?.isUp === true ? this.#life.engine : undefined;
  }

  get isRunning(): boolean {
    return this.#life !== undefined;
  }

  launch(): void {
    if (this.#life !== undefined) return;
    const { scheduler, wall, random, disk, rates, findings, witness, policy, maxWaiting } = this.#deps;
    const process = new SimProcess(scheduler, wall, random);
    const store = simStore({
      disk,
      process,
      random,
      rates,
      findings,
      onBatch: (batch) => witness.decided(batch),
      onTrouble: () => witness.excuse(),
      onOpened: (contents) => witness.opened(contents, process),
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
        onFatal: (failure) => findings.expect(false, () => `the broker gave up: ${failure.message}`),
      },
    );
    const life: Life = { engine, process, isUp: false };
    this.#life = life;
    engine.start().then(
      () => this.#up(life),
      (error: unknown) => this.#down(life, `cannot start: ${String(error)}`),
    );
  }

  /** A process that is killed leaves what it wrote to the system; when the power fails, only what was synced is left. */
  crash(how: "kill" | "power failure"): void {
    const life = this.#life;
    if (life !== undefined) this.#down(life, how);
    if (how === "power failure") this.#deps.disk.losePower(this.#deps.random);
  }

  pause(milliseconds: number): void {
    this.#life?.process.pause(milliseconds);
  }

  /** SIGTERM. Whoever was taken in is answered before the end. */
  stop(): void {
    const life = this.#life;
    if (life?.isUp !== true) return;
    life.isUp = false;
    life.engine.stop().then(
      () => this.#down(life, "stopped"),
      (error: unknown) => this.#deps.findings.expect(false, () => `stopping failed: ${String(error)}`),
    );
  }

  /** As the API would: commands to the engine, reads from what is committed. */
  readonly serve = (ask: Ask, answer: (answer: Answer) => void): void => {
    const life = this.#life;
    if (life?.isUp !== true || life.process.isPaused) return;
    const { ledger } = life.engine;
    switch (ask.kind) {
      case "reserve":
        return this.#submit(life, this.#reserve(ask), answer);
      case "command":
        return this.#submit(life, ask.command, answer);
      case "read":
        return answer({ kind: "reservation", reservation: ledger.reservations.get(ask.id) });
      case "read-free":
        return answer({ kind: "free", cpuMillis: ledger.accounts.get(ask.clusterId)?.available.cpuMillis });
      case "list-instructions": {
        const lending = ledger.accounts.get(ask.clusterId)?.asProvider.values() ?? [];
        return answer({ kind: "instructions", reservations: [...lending] });
      }
    }
  };

  #reserve({ requester, request, key }: Extract<Ask, { kind: "reserve" }>): Command {
    const ids = { reservationId: this.#ids.reservation(requester, key), decisionId: this.#ids.decision() };
    return { kind: "reserve", requester, request, ...(key === undefined ? {} : { key }), ...ids };
  }

  #submit({ engine, process }: Life, command: Command, answer: (answer: Answer) => void): void {
    const { witness, findings } = this.#deps;
    witness.asked(command);
    const submitted = engine.submit(command);
    const post = witness.posted(command, engine.ledger);
    submitted.then(
      (reply: Reply) => {
        if (process.isDead) return;
        witness.answered(command, reply, post);
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

  #up(life: Life): void {
    if (life.process.isDead) return;
    life.isUp = true;
    this.#deps.witness.started(life.engine);
    life.engine.onCommit((commit) => this.#tell(life, commit));
    this.#deps.note(`the broker is up at commit ${life.engine.commitNumber}`);
  }

  #down(life: Life, why: string): void {
    if (life.process.isDead) return;
    const { note, witness, scheduler, random } = this.#deps;
    life.process.kill();
    this.#life = undefined;
    witness.ended();
    note(`the broker is down: ${why}`);
    scheduler.after(random.below(RESTART_MS), "the broker is started", () => this.launch());
  }

  #tell({ engine }: Life, commit: Committed): void {
    this.#deps.witness.told(commit);
    for (const event of commit.events) {
      const id = "reservation" in event ? event.reservation.id : "id" in event ? event.id : undefined;
      const reservation = id === undefined ? undefined : engine.ledger.reservations.get(id);
      if (reservation !== undefined) this.#deps.tell(reservation);
    }
  }
}
