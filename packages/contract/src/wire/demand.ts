import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { dnsLabel, shownClusterId, time } from "../schema/terms.ts";
import { amountsSchema } from "./amounts.ts";
import { tierSchema } from "./cost.ts";
import { LIMIT } from "./protocol.ts";
import { resourceQuantitiesSchema } from "./quantities.ts";
import { MAX_PRIORITY } from "./reservation-request.ts";

const COUNT = t.count();
const MAX_TENANTS = 500;

const tenantName = t.nonEmptyLine(253);

export const refusedRequestSchema = t.message(
  "RefusedRequestDTO",
  "A request that is refused and neither waits nor was granted since. Retries of one request are counted, not listed.",
  {
    id: t.required(dnsLabel(), "Names this entry; the same for each retry.", "req-7c1e09d4a2b85f36"),
    requesterID: t.required(shownClusterId(), "The cluster that asks.", "rome"),
    namespace: t.optional(dnsLabel(), "Namespace of the request in its own cluster.", "ml-training"),
    tenant: t.required(
      tenantName,
      "The tenant that it counts for: one that the policy names, else the cluster.",
      "ml",
    ),
    requestedResources: t.required(resourceQuantitiesSchema, "What is asked for."),
    tier: t.required(tierSchema, "The price tier that is asked for.", "on-demand"),
    priority: t.required(t.integer(-MAX_PRIORITY, MAX_PRIORITY), "The priority it was asked with.", 10),
    reason: t.required(
      t.nonEmptyLine(63),
      "Why the cluster that came furthest did not fit, the last time.",
      "capacity",
    ),
    attempts: t.required(COUNT, "How often it was asked and refused.", 12),
    firstAt: t.required(time(), "When it was first refused.", "2026-07-01T10:00:00.123Z"),
    lastAt: t.required(time(), "When it was last refused.", "2026-07-01T10:05:30.123Z"),
    decisionID: t.required(
      dnsLabel(),
      "The last decision: GET /api/v1/decisions/{id}, unless its requester has had too many refusals recorded.",
      "dec-4f0q2",
    ),
  },
);
export type RefusedRequestDTO = Infer<typeof refusedRequestSchema>;

export const refusedPageSchema = t.message(
  "RefusedPageDTO",
  "One page of the refused requests. At most 1,000 are remembered, for a day after their last refusal.",
  {
    items: t.required(
      t.array(refusedRequestSchema, LIMIT.pageMax),
      "In the order that is asked for; without one, the last refused first.",
    ),
    total: t.required(COUNT, "How many match, on all pages.", 1),
  },
);
export type RefusedPageDTO = Infer<typeof refusedPageSchema>;

const unmetSchema = t.object({
  requests: t.required(COUNT, "How many requests.", 3),
  resources: t.required(amountsSchema, "What they ask for together."),
});

export const demandSchema = t.message("DemandDTO", "What is asked for and not granted, by tenant.", {
  tenants: t.required(
    t.array(
      t.object({
        tenant: t.required(tenantName, "A tenant of the policy, or a cluster without one.", "ml"),
        waiting: t.required(unmetSchema, "Requests that wait in the queue."),
        refused: t.required(
          unmetSchema,
          "Requests that are refused, each once however often it was repeated.",
        ),
      }),
      MAX_TENANTS,
    ),
    "Most requests first, at most 500.",
  ),
  left: t.required(COUNT, "Tenants beyond those listed.", 0),
});
export type DemandDTO = Infer<typeof demandSchema>;
