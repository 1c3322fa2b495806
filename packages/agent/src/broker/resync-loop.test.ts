import { Fault } from "@resource-broker/contract";
import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { recordedLog } from "../testing/recorded-log.ts";
import { resyncLoop } from "./resync.ts";

function world() {
  const time = fakeClock();
  const log = recordedLog();
  const begin = time.monotonicMs();
  const state: { at: number[]; offers: number; hasSuspects: boolean; fault: Fault | undefined } = {
    at: [],
    offers: 0,
    hasSuspects: false,
    fault: undefined,
  };
  const rounds = resyncLoop({
    resync: {
      run: async () => {
        state.at.push((time.monotonicMs() - begin) / 1000);
        if (state.fault !== undefined) throw state.fault;
      },
      hasMissing: () => state.hasSuspects,
    },
    offer: async () => void state.offers++,
    clock: time,
    log,
  });
  rounds.start();
  return { time, log, state, rounds };
}

test("a census is taken at the start and every minute, each with an offer", async () => {
  const { time, state, rounds } = world();
  await time.advance(130_000);
  expect(state.at).toEqual([0, 60, 120]);
  expect(state.offers).toBe(3);
  await rounds.stop();
});

test("it is taken after half a minute when somebody is missing, or when it failed", async () => {
  const { time, state, rounds, log } = world();
  state.hasSuspects = true;
  await time.advance(31_000);
  state.hasSuspects = false;
  state.fault = new Fault("unreachable", "nobody answers");
  await time.advance(60_000);
  state.fault = undefined;
  await time.advance(60_000);
  expect(state.at).toEqual([0, 30, 60, 90, 120]);
  expect(log.lines.map((line) => line.split(" ")[0])).toEqual(["warn", "info"]);
  await rounds.stop();
});

test("it is taken at once when something may have been missed, once for many hints", async () => {
  const { time, state, rounds } = world();
  await time.advance(10_000);
  for (let hint = 0; hint < 5; hint++) rounds.trigger();
  await time.advance(1000);
  expect(state.at).toEqual([0, 10.1]);
  await rounds.stop();
});

test("a hint during a census leads to another one", async () => {
  const { time, state, rounds } = world();
  rounds.trigger();
  await time.advance(1000);
  expect(state.at).toEqual([0, 0.1]);
  await rounds.stop();
});

test("none is taken after stopping", async () => {
  const { time, state, rounds } = world();
  await time.advance(1);
  await rounds.stop();
  rounds.trigger();
  await time.advance(300_000);
  expect(state.at).toEqual([0]);
});
