import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../testing/runs.ts";
import { Deadlines } from "./deadlines.ts";

const id = fc.integer({ min: 0, max: 15 }).map(String);
const at = fc.integer({ min: 0, max: 50 });
const step = fc.oneof(
  fc.record({ action: fc.constant("set" as const), id, at }),
  fc.record({ action: fc.constant("remove" as const), id, at }),
);

describe("deadlines", () => {
  test("agree with a plain map after any sequence of changes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), at, (steps, now) => {
        const deadlines = new Deadlines();
        const model = new Map<string, number>();
        for (const { action, id: subject, at: when } of steps) {
          if (action === "set") {
            deadlines.set({ kind: "reservation", id: subject, at: when });
            model.set(subject, when);
          } else {
            deadlines.remove("reservation", subject);
            model.delete(subject);
          }
          expect(deadlines.earliest?.at).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
        }
        const due = [...model].filter(([, when]) => when <= now).map(([subject]) => subject);
        const sorted = (found: readonly { readonly id: string }[]) => found.map((entry) => entry.id).sort();
        expect(sorted(deadlines.due(now, 1000))).toEqual(due.sort());
        expect(sorted(deadlines.clone().due(now, 1000))).toEqual(due);
      }),
      runs(300, 5000),
    );
  });

  test("hands out no more than the limit", () => {
    const deadlines = new Deadlines();
    for (let index = 0; index < 10; index++)
      deadlines.set({ kind: "reservation", id: String(index), at: index });
    expect(deadlines.due(100, 3)).toHaveLength(3);
  });
});
