import { expect, test } from "vitest";
import { request } from "../testing/builders.ts";
import { tenantStatuses } from "./tenant-status.ts";
import { openQueue, queue } from "./testing/queue-world.ts";

const ML = { members: [{ cluster: "rome", namespaces: ["ml-*"] }], weight: 2, quota: { gpus: 8 } };
const IDLE = { members: [{ cluster: "bern" }], weight: 1, quota: {}, maxPriority: 5 };
const DEFAULT = { members: [], weight: 4, quota: { reservations: 7 } };

test("tenants of the policy come first, then clusters without one that hold something or wait", () => {
  const world = openQueue({ tenants: { ml: ML, idle: IDLE, default: DEFAULT } });
  world.grant("rome", request({ cpu: 8, memoryGi: 1 }), "held");
  queue(world, "rome", "first", { namespace: "ml-a" });
  world.now += 1000;
  queue(world, "rome", "second", { namespace: "ml-b", priority: 3 });
  queue(world, "rome", "behind the first", { namespace: "ml-a" });
  queue(world, "oslo", "third");
  const found = tenantStatuses(world.ledger, world);
  expect(
    found.map(({ name, isInPolicy, rules, share, account, waiting, waitingSince }) => [
      name,
      isInPolicy,
      rules.weight,
      share,
      account.reservations,
      waiting,
      waitingSince,
    ]),
  ).toEqual([
    ["ml", true, 2, 0, 0, 3, world.now - 1000],
    ["idle", true, 1, 0, 0, 0, undefined],
    // By the rules of the tenant default: half of the fleet, divided by 4.
    ["oslo", false, 4, 0, 0, 1, world.now],
    ["rome", false, 4, 0.125, 1, 0, undefined],
  ]);
});

test("without a policy and without reservations there is no tenant", () => {
  const world = openQueue();
  expect(tenantStatuses(world.ledger, world)).toEqual([]);
});
