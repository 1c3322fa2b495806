import { expect, test } from "vitest";
import type { EngineHealth } from "./engine/engine.ts";
import { engineCheck, leadingCheck, notLeading, writesCheck } from "./replica.ts";
import type { LeadershipState } from "./store/common/leader-elector.ts";

const rows: readonly { readonly state: LeadershipState; readonly reason: string }[] = [
  { state: { role: "standby", leader: "" }, reason: "standby: no replica has led yet" },
  { state: { role: "standby", leader: "oslo" }, reason: "standby: the last known leader is oslo" },
  { state: { role: "standby", leader: "oslo", problem: "no way" }, reason: "standby: no way" },
  { state: { role: "unsure" }, reason: "the store cannot be reached; another replica may be the leader" },
  { state: { role: "deposed", leader: "oslo" }, reason: "deposed: oslo leads" },
  { state: { role: "deposed", leader: "" }, reason: "deposed: another replica leads" },
];

test.each(rows)("a replica that is $state.role turns callers away and is not ready: $reason", (row) => {
  const leadership = { state: () => row.state };
  const fault = notLeading(leadership);
  expect(fault).toMatchObject({ code: "not-leader", status: 503, retry: true });
  expect(fault?.message).toContain(row.reason);
  expect(leadingCheck(leadership).problem()).toBe(row.reason);
});

test("a standby's ledger is well while its store is, though its engine has not begun", () => {
  const problemOf = (state: LeadershipState): string | undefined =>
    engineCheck({ health: { state: "starting" } }, { state: () => state }).problem();
  expect(problemOf({ role: "standby", leader: "oslo" })).toBeUndefined();
  expect(problemOf({ role: "standby", leader: "oslo", problem: "no way" })).toBe("no way");
});

test.each<LeadershipState>([{ role: "unsure" }, { role: "deposed", leader: "oslo" }])(
  "one that is $role is not ready even for those who do not ask whether it leads",
  (state) => {
    const leadership = { state: () => state };
    expect(engineCheck({ health: { state: "ready" } }, leadership).problem()).toBe(
      leadingCheck(leadership).problem(),
    );
  },
);

test("a leader answers and leads, and so does a broker that has its store to itself", () => {
  const leadership = { state: (): LeadershipState => ({ role: "leader" }) };
  expect(notLeading(leadership)).toBeUndefined();
  expect(leadingCheck(leadership).problem()).toBeUndefined();
  expect(engineCheck({ health: { state: "starting" } }, leadership).problem()).toBe("starting");
  expect(leadingCheck().problem()).toBeUndefined();
});

const failures: readonly { readonly health: EngineHealth; readonly problem: string | undefined }[] = [
  { health: { state: "ready" }, problem: undefined },
  { health: { state: "starting" }, problem: "starting" },
  { health: { state: "failed", reason: "a line is missing" }, problem: "failed: a line is missing" },
  { health: { state: "stopped" }, problem: "stopped" },
  // Its readers must still be sent here.
  { health: { state: "degraded", reason: "disk full" }, problem: undefined },
];

test.each(failures)("an engine that is $health.state has the problem $problem", ({ health, problem }) => {
  expect(engineCheck({ health }).problem()).toBe(problem);
});

test("a store that cannot be written is shown, and takes nobody out", () => {
  const check = writesCheck({ health: { state: "degraded", reason: "disk full" } });
  expect(check).toMatchObject({ name: "ledger-writes", isAdvisory: true });
  expect(check.problem()).toBe("degraded: disk full");
  expect(writesCheck({ health: { state: "ready" } }).problem()).toBeUndefined();
});
