import { EventEmitter } from "node:events";
import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { describeFailure, type Program, runUntilSignal } from "./run-until-signal.ts";

const TERM = "SIGTERM";

/** A program whose start and stop end when the test says so. */
function programInHand() {
  const calls: string[] = [];
  const started = inHand();
  const stopped = inHand();
  const program: Program = {
    start: () => {
      calls.push("start");
      return started.promise;
    },
    stop: () => {
      calls.push("stop");
      return stopped.promise;
    },
  };
  return { program, calls, started, stopped };
}

function inHand() {
  let resolve = (): void => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  return { promise, resolve: () => resolve(), reject: (error: Error) => reject(error) };
}

function run(program: Program) {
  const signals = new EventEmitter();
  const time = fakeClock();
  const ends: string[] = [];
  const running = runUntilSignal(program, {
    signals,
    unrefTimeout: time.after,
    exit: (code, problem) => void ends.push(`${code} ${problem}`),
    exitCodeOf: (error) => (error === CORRUPT ? 70 : 1),
    describe: (error) => `described: ${String(error)}`,
  });
  return { signals, time, ends, running };
}

const CORRUPT = new Error("torn");

describe("a program that runs until a signal", () => {
  test.each(["SIGTERM", "SIGINT"])("is started, and stopped by %s", async (signal) => {
    const { program, calls, started, stopped } = programInHand();
    const { signals, ends, running } = run(program);
    started.resolve();
    await running;
    expect(calls).toEqual(["start"]);
    signals.emit(signal);
    stopped.resolve();
    await settle();
    expect(calls).toEqual(["start", "stop"]);
    expect(ends).toEqual([]);
  });

  test("is stopped only when it has started: a half-open store is no store", async () => {
    const { program, calls, started } = programInHand();
    const { signals } = run(program);
    signals.emit(TERM);
    await settle();
    expect(calls).toEqual(["start"]);
    started.resolve();
    await settle();
    expect(calls).toEqual(["start", "stop"]);
  });

  test("is ended by force when it does not stop within five seconds", async () => {
    const { program, started } = programInHand();
    const { signals, time, ends } = run(program);
    started.resolve();
    await time.advance(60_000);
    signals.emit(TERM);
    await time.advance(4999);
    expect(ends).toEqual([]);
    await time.advance(1);
    expect(ends).toEqual(["1 did not stop in time"]);
  });

  test("ends with the code and words of what kept it from starting", async () => {
    const { program, started } = programInHand();
    const { ends, running } = run(program);
    started.reject(CORRUPT);
    await running;
    expect(ends).toEqual(["70 described: Error: torn"]);
  });
});

const withCode = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const FLAGS = ["http-port", "metrics-bind-address", "health-probe-bind-address"];

const ELSE = "another process listens there; stop it, or choose another";

test.each<[name: string, error: unknown, flags: string[], line: string]>([
  [
    "a taken port",
    withCode("EADDRINUSE", "listen :80"),
    FLAGS,
    `listen :80: ${ELSE} --http-port, --metrics-bind-address or --health-probe-bind-address`,
  ],
  ["a taken port of one flag", withCode("EADDRINUSE", "listen :80"), ["port"], `listen :80: ${ELSE} --port`],
  [
    "missing rights",
    withCode("EACCES", "listen :80"),
    FLAGS,
    "listen :80: permission denied; ports below 1024 and folders of other users need permissions",
  ],
  ["any other error", new Error("torn"), FLAGS, "torn"],
  ["what is no error at all", "torn", FLAGS, "torn"],
])("%s is described with its remedy", (_, error, flags, line) => {
  expect(describeFailure(error, flags)).toBe(line);
});
