import { describe, expect, test } from "vitest";
import { type Advertisement, MAX_RESERVATIONS_PER_PROVIDER } from "../advertisement/advertisement.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";
import { cluster, request, size } from "../testing/builders.ts";
import { ADMIN, actor, MINUTE_MS, openWorld, type World } from "../testing/world.ts";
import { refusalsOf, withoutAmounts } from "./decision.ts";
import { FILTER_NAMES, type FilterName } from "./filters.ts";
import type { Policy } from "./policy.ts";

interface Row {
  readonly filter: FilterName;
  readonly when: string;
  readonly message: string;
  readonly requester?: string;
  readonly request?: ReservationRequest;
  readonly policy?: Partial<Policy>;
  readonly advertisement?: Partial<Advertisement>;
  readonly prepare?: (world: World) => void;
}

const REGION = { "topology.kubernetes.io/region": "eu-west" };

/** Each row differs from a request that paris would win in one thing: take the filter away and paris wins. */
const ROWS: readonly Row[] = [
  { filter: "self", when: "paris asks", message: "is the requester itself", requester: "paris" },
  {
    filter: "target",
    when: "berlin is wanted",
    message: "is not the target asked for (berlin)",
    request: request({}, { target: "berlin" }),
  },
  {
    filter: "excluded",
    when: "paris is excluded",
    message: "is excluded by the request",
    request: request({}, { constraints: { excludeClusters: ["oslo", "paris"] } }),
  },
  {
    filter: "region",
    when: "another region is wanted",
    message: "is in region eu-west, not in us-east, us-west",
    advertisement: { labels: REGION },
    request: request({}, { constraints: { regions: ["us-east", "us-west"] } }),
  },
  {
    filter: "region",
    when: "paris does not say where it is",
    message: "is in region unknown, not in eu-west",
    request: request({}, { constraints: { regions: ["eu-west"] } }),
  },
  {
    filter: "labels",
    when: "a label differs",
    message: "lacks label tier=gold",
    advertisement: { labels: { tier: "silver" } },
    request: request({}, { constraints: { labels: { tier: "gold" } } }),
  },
  {
    filter: "labels",
    when: "the label is called like a method",
    message: "lacks label constructor=x",
    request: request({}, { constraints: { labels: { constructor: "x" } } }),
  },
  {
    filter: "cordoned",
    when: "an admin cordoned it",
    message: "is cordoned: upgrade",
    prepare: (world) => world.run({ kind: "cordon", by: ADMIN, clusterId: "paris", why: "upgrade" }),
  },
  {
    filter: "lending-policy",
    when: "rome is denied",
    message: "does not lend to rome (lending policy)",
    policy: { lending: { default: {}, clusters: { paris: { deny: ["rome"] } } } },
  },
  {
    filter: "lending-policy",
    when: "only others are allowed",
    message: "does not lend to rome (lending policy)",
    policy: { lending: { default: { allow: ["oslo"] }, clusters: {} } },
  },
  {
    filter: "refused-recently",
    when: "it refused rome",
    message: "refused rome 60s ago",
    prepare: refusedAMinuteAgo,
  },
  {
    filter: "stale",
    when: "it has been silent",
    message: "advertisement 2m old",
    prepare: (world) => {
      world.now += 2 * MINUTE_MS + 1;
    },
  },
  {
    filter: "reservation-limit",
    when: "it has as many as its agent can list",
    message: "has 1000 reservations; the maximum is 1000",
    prepare: (world) => world.advertise(listing(MAX_RESERVATIONS_PER_PROVIDER)),
  },
  {
    filter: "capacity",
    when: "CPU is short",
    message: "needs 1.5 more CPU",
    request: request({ cpu: 17.5 }),
  },
  {
    filter: "capacity",
    when: "two are short",
    message: "needs 1 more CPU and 1Gi more Memory",
    request: request({ cpu: 17, memoryGi: 65 }),
  },
  {
    filter: "capacity",
    when: "there is none of it",
    message: "offers no GPU; needs 1 more CPU",
    request: request({ cpu: 17, gpu: 1 }),
  },
  {
    filter: "capacity",
    when: "an extended resource is missing",
    message: "offers no amd.com/gpu",
    request: request({ extended: { "amd.com/gpu": 1 } }),
  },
  {
    filter: "node-shape",
    when: "no node is large enough",
    message: "has no single node large enough",
    advertisement: { nodeShapes: [{ count: 2, resources: size({ cpu: 8, memoryGi: 32 }) }] },
    request: request({}, { perNode: size({ cpu: 9 }) }),
  },
  {
    filter: "node-shape",
    when: "the fitting shape has no node",
    message: "has no single node large enough",
    advertisement: { nodeShapes: [{ count: 0, resources: size({ cpu: 16, memoryGi: 32 }) }] },
    request: request({}, { perNode: size({ cpu: 9 }) }),
  },
  {
    filter: "node-shape",
    when: "shapes are not advertised",
    message: "does not say how large its nodes are",
    request: request({}, { perNode: size({ cpu: 1 }) }),
  },
];

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
  test.each(ROWS)("by $filter when $when", (row) => {
    const world = openWorld(row.policy ?? {});
    world.advertise(cluster("paris", { more: row.advertisement ?? {} }));
    row.prepare?.(world);
    const decision = world.refusal(row.requester ?? "rome", row.request ?? request());
    expect(refusalsOf(decision)).toEqual([
      expect.objectContaining({ clusterId: "paris", filter: row.filter, message: row.message }),
    ]);
    expect(decision.refusedBy).toEqual({ [row.filter]: 1 });
  });

  test("by every filter at least once in the table above", () => {
    expect(new Set(ROWS.map(({ filter }) => filter))).toEqual(new Set(FILTER_NAMES));
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
  const rows = [
    {
      name: "in an allowed region",
      more: { labels: REGION },
      request: request({}, { constraints: { regions: ["us-east", "eu-west"] } }),
    },
    {
      name: "with the labels asked for",
      more: { labels: { tier: "gold" } },
      request: request({}, { constraints: { labels: { tier: "gold" } } }),
    },
    { name: "as the target", more: {}, request: request({}, { target: "paris" }) },
    {
      name: "with one large node",
      more: { nodeShapes: [{ count: 1, resources: size({ cpu: 9, memoryGi: 9 }) }] },
      request: request({}, { perNode: size({ cpu: 9 }) }),
    },
  ];
  test.each(rows)("$name", ({ more, request: asked }) => {
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
