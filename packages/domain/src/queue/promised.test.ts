import { expect, test } from "vitest";
import type { Policy } from "../scheduling/policy.ts";
import { cluster, priced } from "../testing/builders.ts";
import { HOUR_MS, MINUTE_MS } from "../testing/world.ts";
import { admit, hold, openMarket, pass, queue, underNotice } from "./testing/queue-world.ts";

const EUR = 1_000_000;
const OSLO = { members: [{ cluster: "oslo" }], weight: 1, quota: {} };

/** Whose notices oslo causes that may have this much, and waits for two of 16 CPU for an hour, each 16 EUR. */
function noticesWith(policy: Partial<Policy>): string[] {
  const world = openMarket();
  world.policy = { ...world.policy, ...policy };
  const cost = priced(1, { onDemand: { cpuHour: 1, memoryGbHour: 0 } });
  world.advertise(cluster("paris", { more: { cost } }));
  hold(world, "rome", "a", { cpu: 16, tier: "spot" });
  world.advertise(cluster("berlin", { more: { cost } }));
  hold(world, "rome", "b", { cpu: 16, tier: "spot" });
  pass(world, 15 * MINUTE_MS);
  for (const key of ["first", "second"])
    queue(world, "oslo", key, { priority: 50, durationMs: HOUR_MS, forMs: 10 * HOUR_MS });
  admit(world);
  const noticed = underNotice(world);
  pass(world, 5 * MINUTE_MS);
  // Nobody has ended in vain.
  expect(admit(world)).toHaveLength(noticed.length);
  return noticed;
}

const LIMITS: readonly { name: string; policy: Partial<Policy>; notices: number }[] = [
  { name: "a quota of its cluster for one", policy: { quotas: { oslo: { cpuMillis: 31_999 } } }, notices: 1 },
  {
    name: "a quota of its cluster for both",
    policy: { quotas: { oslo: { cpuMillis: 32_000 } } },
    notices: 2,
  },
  { name: "one reservation at once", policy: { quotas: { oslo: { reservations: 1 } } }, notices: 1 },
  { name: "two reservations at once", policy: { quotas: { oslo: { reservations: 2 } } }, notices: 2 },
  {
    name: "a quota of its tenant for one",
    policy: { tenants: { ml: { ...OSLO, quota: { cpuMillis: 31_999 } } } },
    notices: 1,
  },
  {
    name: "a tenant of one reservation",
    policy: { tenants: { ml: { ...OSLO, quota: { reservations: 1 } } } },
    notices: 1,
  },
  {
    name: "a budget for one",
    policy: { tenants: { ml: { ...OSLO, budget: { perDay: 31 * EUR } } } },
    notices: 1,
  },
];
test.each(LIMITS)("with $name, two requests cause $notices notices", ({ policy, notices }) => {
  expect(noticesWith(policy)).toHaveLength(notices);
});
