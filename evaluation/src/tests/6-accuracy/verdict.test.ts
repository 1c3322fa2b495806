import { expect, test } from "vitest";
import type { Answer } from "../subject/calls.ts";
import type { OracleResult } from "./oracle.ts";
import { checkOf } from "./verdict.ts";

const PARIS_WINS: OracleResult = {
  winner: "paris",
  level: ["paris", "oslo"],
  refusals: new Map([["rome", ["self"]]]),
};
const NOBODY: OracleResult = {
  winner: undefined,
  level: [],
  refusals: new Map([["rome", ["self", "capacity"]]]),
};
const lent = (provider: string): Answer => ({ status: 201, tookMs: 1, id: "r", provider });
const refused = (...reasons: readonly (readonly [string, string])[]): Answer => ({
  status: 409,
  tookMs: 1,
  reasons: reasons.map(([clusterID, reason]) => ({ clusterID, reason })),
});

test.each<[string, OracleResult, Answer, object]>([
  ["the winner lends", PARIS_WINS, lent("paris"), { verdict: "right" }],
  ["one that is level with it lends", PARIS_WINS, lent("oslo"), { verdict: "tie" }],
  [
    "one that scores less lends",
    PARIS_WINS,
    lent("tokyo"),
    { verdict: "wrong", problem: /another one scores more/ },
  ],
  ["one that may not lend does", PARIS_WINS, lent("rome"), { verdict: "wrong", problem: /wrong: self/ }],
  [
    "nobody lends though one could",
    PARIS_WINS,
    refused(),
    { verdict: "wrong", problem: /but paris can lend/ },
  ],
  ["nobody can, and it is said why", NOBODY, refused(["rome", "capacity"]), { verdict: "right" }],
  [
    "nobody can, and a wrong reason is given",
    NOBODY,
    refused(["rome", "stale"]),
    { verdict: "wrong", problem: /not self or capacity/ },
  ],
  [
    "nobody can, and one is left out",
    NOBODY,
    refused(),
    { verdict: "wrong", problem: /without a word on rome/ },
  ],
  ["somebody lends though nobody can", NOBODY, lent("rome"), { verdict: "wrong", problem: /self, capacity/ }],
  [
    "the broker falls over",
    PARIS_WINS,
    { status: 500, tookMs: 1 },
    { verdict: "wrong", problem: /answered with 500/ },
  ],
])("%s", (_, ruling, answer, expected) => {
  const { problem, verdict } = { problem: undefined, ...(expected as { verdict: string; problem?: RegExp }) };
  const check = checkOf(ruling, answer);
  expect(check.verdict).toBe(verdict);
  if (problem !== undefined) expect(check.problem).toMatch(problem);
});
