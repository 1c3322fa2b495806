import { quotaSchema } from "../policy/policy-schema.ts";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { currency, decimal, time } from "../schema/terms.ts";
import { LIMIT } from "./protocol.ts";
import { resourceQuantitiesSchema } from "./quantities.ts";
import { MAX_PRIORITY } from "./reservation-request.ts";
import { MAX_QUEUE, MAX_SHARE } from "./waiting.ts";

/** More than any fleet has: one for each cluster, and those of the policy. */
const MAX_TENANTS = 1_000_000;

export const tenantSchema = t.message(
  "TenantDTO",
  "A tenant of the policy, or a cluster that no tenant claims: what it holds, what it may hold, and what waits.",
  {
    name: t.required(
      t.nonEmptyLine(253),
      "The name in the policy, or the ID of a cluster without a tenant.",
      "ml",
    ),
    inPolicy: t.required(t.boolean(), "True: the policy names it. False: a cluster without a tenant.", true),
    weight: t.required(t.positiveNumber(1e6), "A tenant of twice the weight gets twice the share.", 3),
    share: t.required(
      t.number(0, MAX_SHARE),
      "The largest share of the fleet that it holds of any resource, divided by its weight. The lowest goes first among equal priorities.",
      0.125,
    ),
    holds: t.required(resourceQuantitiesSchema, "What its live reservations hold together.", {
      cpu: "4",
      memory: "8Gi",
    }),
    reservations: t.required(t.integer(0, 1e9), "How many live reservations it has.", 2),
    quota: t.optional(quotaSchema, "The most that its clusters may hold together. Absent: no limit.", {
      gpu: "8",
    }),
    maxPriority: t.optional(
      t.integer(-MAX_PRIORITY, MAX_PRIORITY),
      "Requests of a higher priority are refused. Absent: no limit.",
      100,
    ),
    committedToday: t.required(
      decimal(),
      "What its reservations are charged for today (UTC), to their ends or to midnight.",
      "12.5",
    ),
    budgetPerDay: t.optional(decimal(), "The most that it may be charged for a day. Absent: no limit.", "50"),
    currency: t.required(currency(), "Currency of these amounts.", "EUR"),
    waiting: t.required(t.integer(0, MAX_QUEUE), "How many of its requests wait.", 3),
    waitingSince: t.optional(
      time(),
      "Since when the one that waits longest has waited. Absent: none waits.",
      "2026-07-01T10:00:00.123Z",
    ),
  },
);
export type TenantDTO = Infer<typeof tenantSchema>;

export const tenantPageSchema = t.message("TenantPageDTO", "One page of the tenants.", {
  items: t.required(
    t.array(tenantSchema, LIMIT.pageMax),
    "Those of the policy in its order, then clusters without a tenant by their ID.",
  ),
  total: t.required(t.integer(0, MAX_TENANTS), "How many there are.", 7),
  next: t.optional(
    t.line(LIMIT.afterLength),
    "Ask for the next page with ?offset=<next>. Absent: this was the last.",
    "100",
  ),
});
export type TenantPageDTO = Infer<typeof tenantPageSchema>;
