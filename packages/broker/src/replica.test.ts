import { describe, expect, test } from "vitest";
import { engineCheck, leadingCheck, notLeading } from "./replica.ts";
import type { LeadershipState } from "./store/common/leadership.ts";

const rows: readonly { readonly standing: LeadershipState; readonly says: string }[] = [
  { standing: { role: "standby", leader: "" }, says: "standby: no replica has led yet" },
  { standing: { role: "standby", leader: "oslo" }, says: "standby: the last known leader is oslo" },
  { standing: { role: "standby", leader: "oslo", problem: "no way" }, says: "standby: no way" },
  {
    standing: { role: "unsure" },
    says: "the store cannot be reached; another replica may be the leader",
  },
  { standing: { role: "deposed", leader: "oslo" }, says: "deposed: oslo leads" },
  { standing: { role: "deposed", leader: "" }, says: "deposed: another replica leads" },
];

describe.each(rows)("a replica that is $standing.role ($says)", ({ standing: state, says }) => {
  const leadership = { state: () => state };

  test("turns callers away, with what is known", () => {
    const fault = notLeading(leadership);
    expect(fault).toMatchObject({ code: "not-leader", status: 503, retry: true });
    expect(fault?.message).toContain(says);
  });

  test("is not ready, because it does not lead", () => {
    expect(leadingCheck(leadership).problem()).toBe(says);
  });
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

test("a leader answers, and is as ready as its engine", () => {
  const leadership = { state: (): LeadershipState => ({ role: "leader" }) };
  expect(notLeading(leadership)).toBeUndefined();
  expect(leadingCheck(leadership).problem()).toBeUndefined();
  expect(engineCheck({ health: { state: "ready" } }, leadership).problem()).toBeUndefined();
  expect(engineCheck({ health: { state: "starting" } }, leadership).problem()).toBe("starting");
});
