import { describe, expect, test } from "vitest";
import { type Advertisement, MAX_RESERVATIONS_PER_PROVIDER } from "../advertisement/advertisement.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";
import { cluster, request, size } from "../testing/builders.ts";
import { ADMIN, actor, MINUTE_MS, openWorld, type World } from "../testing/world.ts";
import { refusalsOf, withoutAmounts } from "./decision.ts";
import { FILTER_NAMES, type FilterName } from "./filters.ts";
import type { Policy } from "./policy.ts";

interface Situation {
  readonly requester?: string;
  readonly asked?: ReservationRequest;
  readonly policy?: Partial<Policy>;
  readonly advertisement?: Partial<Advertisement>;
  readonly prepare?: (world: World) => void;
}
type Row = readonly [filter: FilterName, when: string, message: string, situation: Situation];

const REGION = { "topology.kubernetes.io/region": "eu-west" };
const constrained = (constraints: ReservationRequest["constraints"]) => request({}, { constraints });
const nodes = (count: number, cpu: number) => ({
  nodeShapes: [{ count, resources: size({ cpu, memoryGi: 32 }) }],
});
const onOneNode = (cpu: number) => request({}, { perNode: size({ cpu }) });
const NOT_LENT = "does not lend to rome (lending policy)";
const NO_NODE = "has no single node large enough";

const WITH_BUDGET = { members: [{ cluster: "rome" }], weight: 1, quota: {}, budget: { perDay: 1 } };

/** Each row differs from a request that paris would win in one thing: take the filter away and paris wins. */
const ROWS: readonly Row[] = [
  ["self", "paris asks", "is the requester itself", { requester: "paris" }],
  [
    "target",
    "berlin is wanted",
    "is not the target asked for (berlin)",
    { asked: request({}, { target: "berlin" }) },
  ],
  [
    "excluded",
    "paris is excluded",
    "is excluded by the request",
    { asked: constrained({ excludeClusters: ["oslo", "paris"] }) },
  ],
  [
    "region",
    "another region is wanted",
    "is in region eu-west, not in us-east, us-west",
    { advertisement: { labels: REGION }, asked: constrained({ regions: ["us-east", "us-west"] }) },
  ],
  [
    "region",
    "paris does not say where it is",
    "is in region unknown, not in eu-west",
    { asked: constrained({ regions: ["eu-west"] }) },
  ],
  [
    "labels",
    "a label differs",
    "lacks label tier=gold",
    { advertisement: { labels: { tier: "silver" } }, asked: constrained({ labels: { tier: "gold" } }) },
  ],
  [
    "labels",
    "the label is called like a method",
    "lacks label constructor=x",
    { asked: constrained({ labels: { constructor: "x" } }) },
  ],
  [
    "cordoned",
    "an admin cordoned it",
    "is cordoned: upgrade",
    { prepare: (world) => world.run({ kind: "cordon", by: ADMIN, clusterId: "paris", why: "upgrade" }) },
  ],
  [
    "lending-policy",
    "rome is denied",
    NOT_LENT,
    { policy: { lending: { default: {}, clusters: { paris: { deny: ["rome"] } } } } },
  ],
  [
    "lending-policy",
    "only others are allowed",
    NOT_LENT,
    { policy: { lending: { default: { allow: ["oslo"] }, clusters: {} } } },
  ],
  ["refused-recently", "it refused rome", "refused rome 60s ago", { prepare: refusedAMinuteAgo }],
  ["stale", "it has been silent", "advertisement 2m old", { prepare: silentForLong }],
  [
    "reservation-limit",
    "it has as many as its agent can list",
    "has 1000 reservations; the maximum is 1000",
    { prepare: (world) => world.advertise(listing(MAX_RESERVATIONS_PER_PROVIDER)) },
  ],
  ["capacity", "CPU is short", "needs 1.5 more CPU", { asked: request({ cpu: 17.5 }) }],
  [
    "capacity",
    "two are short",
    "needs 1 more CPU and 1Gi more Memory",
    { asked: request({ cpu: 17, memoryGi: 65 }) },
  ],
  [
    "capacity",
    "there is none of it",
    "offers no GPU; needs 1 more CPU",
    { asked: request({ cpu: 17, gpu: 1 }) },
  ],
  [
    "capacity",
    "an extended resource is missing",
    "offers no amd.com/gpu",
    { asked: request({ extended: { "amd.com/gpu": 1 } }) },
  ],
  [
    "kept-for-others",
    "what is free is planned for one that waits",
    "keeps 16 CPU / 8Gi Memory from 2026-01-05T13:05:00.000Z for a request that waits",
    { prepare: plannedForOslo },
  ],
  ["node-shape", "no node is large enough", NO_NODE, { advertisement: nodes(2, 8), asked: onOneNode(9) }],
  [
    "node-shape",
    "the fitting shape has no node",
    NO_NODE,
    { advertisement: nodes(0, 16), asked: onOneNode(9) },
  ],
  [
    "node-shape",
    "shapes are not advertised",
    "does not say how large its nodes are",
    { asked: onOneNode(1) },
  ],
  [
    "unpriced",
    "the tenant has a budget and paris no price",
    "has no price for this, and tenant ml has a budget",
    { policy: { tenants: { ml: WITH_BUDGET } } },
  ],
];

function silentForLong(world: World): void {
  world.now += 2 * MINUTE_MS + 1;
}

/** bern holds half of paris for an hour, and oslo waits for all of it. */
function plannedForOslo(world: World): void {
  world.grant("bern", request({ cpu: 8 }, { durationMs: 60 * MINUTE_MS }));
  const ids = { reservationId: "rsv-oslo-k", decisionId: "dec-k", key: "k" };
  const wait = { forMs: 60 * MINUTE_MS };
  world.run({ kind: "reserve", requester: "oslo", request: request({ cpu: 16 }), wait, ...ids });
  world.run({ kind: "admit", decisionId: "dec-a" });
}

/** Paris with so many reservations in its usage that nobody else knows of. */
function listing(count: number): Advertisement {
  const usage = Array.from({ length: count }, (_, index) => ({
    id: `rsv-old-${index}`,
    granted: {},
    used: {},
  }));
  return cluster("paris", { usage });
}

function refusedAMinuteAgo(world: World): void {
  const { id } = world.grant("rome", request());
  world.run({ kind: "refuse", by: actor("paris"), id, why: "full" });
  world.pass(MINUTE_MS);
}

describe("a candidate is passed over", () => {
  test.each(ROWS)("by %s when %s", (filter, _, message, situation) => {
    const { requester = "rome", asked = request(), policy = {}, advertisement = {}, prepare } = situation;
    const world = openWorld(policy);
    world.advertise(cluster("paris", { more: advertisement }));
    prepare?.(world);
    const decision = world.refusal(requester, asked);
    expect(refusalsOf(decision)).toEqual([expect.objectContaining({ clusterId: "paris", filter, message })]);
    expect(decision.refusedBy).toEqual({ [filter]: 1 });
  });

  test("by every filter at least once in the table above", () => {
    // A request that only its budget stops is rejected: see queue/budget.test.ts.
    const expected = FILTER_NAMES.filter((name) => name !== "budget");
    expect(new Set(ROWS.map(([filter]) => filter))).toEqual(new Set(expected));
  });

  test("when what is granted and what is still listed reach the limit together", () => {
    const world = openWorld();
    world.advertise(listing(MAX_RESERVATIONS_PER_PROVIDER - 2));
    const small = request({ cpu: 0.001, memoryGi: 1 });
    const { id } = world.grant("rome", small);
    world.grant("oslo", small);
    expect(world.refusal("oslo", small).refusedBy).toEqual({ "reservation-limit": 1 });
    world.run({ kind: "release", by: actor("rome"), id });
    expect(world.grant("oslo", small).provider).toBe("paris");
    // What has ended counts as long as its pods run.
    const left = cluster("paris", { usage: [{ id, granted: {}, used: { cpu: 1 } }] });
    world.advertise({ ...left, usage: [...left.usage, ...listing(MAX_RESERVATIONS_PER_PROVIDER - 3).usage] });
    expect(world.account("paris").reservationCount).toBe(MAX_RESERVATIONS_PER_PROVIDER);
    expect(world.refusal("oslo", small).refusedBy).toEqual({ "reservation-limit": 1 });
  });

  test("with the missing amount for machines", () => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    const [refusal] = refusalsOf(world.refusal("rome", request({ cpu: 17.5 })));
    expect(refusal?.missing).toEqual(size({ cpu: 1.5 }));
  });

  test("without another cluster's figures where they may not be shown", () => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    const [refusal] = withoutAmounts(refusalsOf(world.refusal("rome", request({ cpu: 17.5 }))));
    expect(refusal).toEqual({
      clusterId: "paris",
      filter: "capacity",
      message: "does not have enough CPU",
      summary: "does not have enough CPU",
    });
  });
});

describe("a candidate is taken", () => {
  test.each([
    ["in an allowed region", { labels: REGION }, constrained({ regions: ["us-east", "eu-west"] })],
    ["with the labels asked for", { labels: { tier: "gold" } }, constrained({ labels: { tier: "gold" } })],
    ["as the target", {}, request({}, { target: "paris" })],
    ["with one large node", nodes(1, 9), onOneNode(9)],
  ])("%s", (_, more, asked) => {
    const world = openWorld();
    world.advertise(cluster("paris", { more }));
    expect(world.grant("rome", asked).provider).toBe("paris");
  });

  test("by a rule of its own even where the default denies", () => {
    const world = openWorld({
      lending: { default: { allow: [] }, clusters: { paris: { allow: ["rome"] } } },
    });
    world.advertise(cluster("paris"), cluster("constructor"));
    expect(world.grant("rome", request()).provider).toBe("paris");
  });
});
