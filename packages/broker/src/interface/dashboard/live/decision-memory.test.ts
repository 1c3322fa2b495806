import { type Decision, type LedgerEvent, resourceVector } from "@resource-broker/domain";
import { expect, test } from "vitest";
import { createDecisionMemory } from "./decision-memory.ts";

const ALL = { outcome: undefined, requester: "", offset: 0, limit: 3 } as const;

test("of many decisions the newest are kept", () => {
  const memory = createDecisionMemory(() => Promise.resolve([]));
  for (let number = 1; number <= 2500; number++) {
    const decision = {
      id: `dec-${number}`,
      at: number,
      requester: "rome",
      request: { resources: resourceVector({}) },
      refusedBy: {},
    } as unknown as Decision;
    memory.add({ events: [{ kind: "refused", decision } as LedgerEvent], number, at: number });
  }
  const { rows, total } = memory.page(ALL, 2500);
  expect(rows.map(({ id }) => id)).toEqual(["dec-2500", "dec-2499", "dec-2498"]);
  expect(total).toBe(1000);
});
