import { resourceVector } from "@resource-broker/base";
import type { Decision, LedgerEvent } from "@resource-broker/domain";
import { expect, test } from "vitest";
import { readQuery } from "../http/query.ts";
import { createRecentDecisions } from "./recent-decisions.ts";

/** So many make it let go of the older half. */
const MANY = 2000;

test("of many decisions the newest are kept", () => {
  const memory = createRecentDecisions(() => Promise.resolve([]));
  for (let number = 1; number <= MANY; number++) {
    const decision = {
      id: `dec-${number}`,
      at: number,
      requester: "rome",
      request: { resources: resourceVector({}) },
      refusedBy: {},
    } as unknown as Decision;
    memory.add({ events: [{ kind: "refused", decision } as LedgerEvent], number, at: number });
  }
  const { items, total } = memory.page(readQuery("limit=3"));
  expect(items.map(({ id }) => id)).toEqual(["dec-2000", "dec-1999", "dec-1998"]);
  expect(total).toBe(1000);
});
