import type { Command } from "@resource-broker/domain";
import { ADMIN, actor, cluster, MINUTE_MS, request } from "@resource-broker/domain/testing";
import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { runEngine } from "./testing/run-engine.ts";

const STALENESS_MS = 2 * MINUTE_MS;
const WAIT_MS = 20_000;

const FLEET = [
  ["paris", 16, 3],
  ["rome", 0, 3],
  ["bern", 0, 2],
] as const;

function reserve(requester: string, more: Partial<Extract<Command, { kind: "reserve" }>> = {}): Command {
  return {
    kind: "reserve",
    requester,
    key: requester,
    request: request({ cpu: 8, memoryGi: 1 }),
    reservationId: `rsv-${requester}`,
    decisionId: `dec-${requester}`,
    ...more,
  };
}

/**
 * An engine that has started anew, an hour later: rome is under notice, bern was not activated, oslo waits. All that they had
 * is over.
 */
async function restarted(stalenessMs: number) {
  const clock = fakeClock();
  const policy = { stalenessMs, activationTimeoutMs: WAIT_MS };
  const { engine, disk } = await runEngine({ clock, policy });
  // bern can activate, and cannot be told of a notice.
  for (const [clusterId, cpu, protocol] of FLEET)
    await engine.submit({
      kind: "advertise",
      advertisement: cluster(clusterId, { cpu, more: { protocol } }),
    });
  await engine.submit(reserve("rome"));
  await engine.submit({ kind: "activate", by: actor("rome"), id: "rsv-rome" });
  await engine.submit(reserve("bern"));
  await engine.submit({ kind: "drain", by: ADMIN, clusterId: "paris", graceMs: WAIT_MS });
  await engine.submit(reserve("oslo", { wait: { forMs: WAIT_MS } }));
  await engine.stop();
  clock.jumpWall(60 * MINUTE_MS);
  const next = await runEngine({ clock, disk, policy });
  const reasons = () => {
    const { reservations, waiting } = next.engine.ledger;
    const { reason: ofWaiting } = waiting.byId.get("rsv-oslo") ?? {};
    return [reservations.get("rsv-rome")?.reason, reservations.get("rsv-bern")?.reason, ofWaiting];
  };
  const pass = async (milliseconds: number): Promise<void> => {
    await clock.advance(milliseconds);
    await settle();
  };
  return { ...next, reasons, pass };
}

const NOTHING_ENDED = [undefined, undefined, undefined];
const ALL_ENDED = ["Preempted", "ActivationTimeout", "WaitTimeout"];

describe("a policy that is read only after the start says for how long nothing ends", () => {
  test.each([
    { name: "longer", stalenessMs: 10 * MINUTE_MS },
    { name: "shorter", stalenessMs: MINUTE_MS / 2 },
  ])("$name than at the start", async ({ stalenessMs }) => {
    const { engine, reasons, pass } = await restarted(STALENESS_MS);
    await pass(1000);
    engine.setPolicy({ ...engine.policy, stalenessMs });
    await pass(2 * stalenessMs - 2000);
    expect(reasons()).toEqual(NOTHING_ENDED);
    await pass(3000);
    expect(reasons()).toEqual(ALL_ENDED);
  });

  test("which may be over already", async () => {
    const { engine, reasons, pass } = await restarted(STALENESS_MS);
    await pass(MINUTE_MS);
    expect(reasons()).toEqual(NOTHING_ENDED);
    engine.setPolicy({ ...engine.policy, stalenessMs: 1000 });
    await pass(2000);
    expect(reasons()).toEqual(ALL_ENDED);
  });
});
