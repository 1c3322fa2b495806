import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Advertisement } from "../advertisement/advertisement.ts";
import {
  actor,
  type ClusterSketch,
  cluster,
  openWorld,
  priced,
  request,
  runs,
  size,
} from "../testing/index.ts";
import { apply } from "./apply.ts";
import { decide } from "./decide.ts";
import { cloneLedger, type Ledger } from "./ledger.ts";
import { mustBeDurable } from "./must-be-durable.ts";

const WITH_USAGE: ClusterSketch = { usage: [{ id: "rsv-1", granted: { cpu: 4 }, used: { cpu: 2 } }] };
const agent = (sequence: number, instance = "a") => ({ more: { instance, sequence } });
const shapes = (...cpus: readonly number[]) => ({
  more: { nodeShapes: cpus.map((cpu) => ({ count: 1, resources: size({ cpu }) })) },
});

describe("an advertisement must outlive the process that hears it", () => {
  const rows: { name: string; before?: ClusterSketch; after: ClusterSketch }[] = [
    { name: "when less is allocatable", after: { cpu: 15 } },
    { name: "when more is allocated", after: { allocated: { memoryGi: 1 } } },
    {
      name: "when more is allocated than there is",
      before: { allocated: { cpu: 17 } },
      after: { allocated: { cpu: 18 } },
    },
    { name: "when a resource is withdrawn", before: { extended: { "amd.com/gpu": 2 } }, after: {} },
    { name: "when one resource grows and another shrinks", after: { cpu: 32, memoryGi: 63 } },
    { name: "when there is a new hold", after: WITH_USAGE },
    {
      name: "when there is a new hold of nothing",
      after: { usage: [{ id: "rsv-1", granted: {}, used: {} }] },
    },
    {
      name: "when a hold uses more",
      before: WITH_USAGE,
      after: { usage: [{ id: "rsv-1", granted: { cpu: 4 }, used: { cpu: 3 } }] },
    },
    {
      name: "when a hold was granted more",
      before: WITH_USAGE,
      after: { usage: [{ id: "rsv-1", granted: { cpu: 5 }, used: { cpu: 2 } }] },
    },
    {
      name: "when another hold takes the same",
      before: WITH_USAGE,
      after: { usage: [{ id: "rsv-2", granted: { cpu: 4 }, used: { cpu: 2 } }] },
    },
    { name: "when a label is gone", before: { more: { labels: { tier: "gold" } } }, after: {} },
    {
      name: "when a label changes",
      before: { more: { labels: { tier: "gold" } } },
      after: { more: { labels: { tier: "iron" } } },
    },
    { name: "when the largest node is gone", before: shapes(4, 8), after: shapes(4, 7) },
    { name: "when it says nothing of its nodes any more", before: shapes(4), after: {} },
    {
      name: "when the last node of a shape is gone",
      before: shapes(8),
      after: { more: { nodeShapes: [{ count: 0, resources: size({ cpu: 8 }) }] } },
    },
    { name: "when an older agent speaks", after: { more: { protocol: 1 } } },
    { name: "when another process speaks for the cluster", before: agent(7), after: agent(1, "b") },
    { name: "when a post before it is missing", before: agent(7), after: agent(9) },
  ];
  test.each(rows)("$name", ({ before, after }) => {
    expect(mustBeDurable(cluster("paris", before), cluster("paris", after))).toBe(true);
  });
});

describe("an advertisement may be lost", () => {
  const rows: { name: string; before?: ClusterSketch; after: ClusterSketch }[] = [
    { name: "when nothing changed", before: agent(7), after: agent(8) },
    { name: "when there is more of everything", after: { cpu: 17, memoryGi: 65, gpu: 1 } },
    { name: "when a hold is gone", before: WITH_USAGE, after: {} },
    {
      name: "when only prices and names changed",
      after: { more: { cost: priced(3), clusterName: "Paris", endpointUrl: "https://x" } },
    },
    { name: "when a larger node came", before: shapes(4, 8), after: shapes(4, 9) },
    { name: "when a label came", after: { more: { labels: { tier: "gold" } } } },
    { name: "when a newer agent took over", before: { more: { protocol: 1 } }, after: {} },
  ];
  test.each(rows)("$name", ({ before, after }) => {
    expect(mustBeDurable(cluster("paris", before), cluster("paris", after))).toBe(false);
  });
});

const few = fc.nat({ max: 6 });
const amounts = fc.record({ cpu: few, memoryGi: few, gpu: few, extended: fc.record({ "x.io/y": few }) });
const labels = fc.dictionary(fc.constantFrom("tier", "zone"), fc.constantFrom("gold", "iron"));
const advertised: fc.Arbitrary<Advertisement> = fc
  .record({
    all: amounts,
    allocated: amounts,
    usage: fc.array(
      fc.record({
        id: fc.constantFrom("rsv-live", "rsv-ended", "rsv-unknown"),
        granted: amounts,
        used: amounts,
      }),
      { maxLength: 4 },
    ),
    labels,
    nodes: fc.array(fc.record({ count: fc.nat({ max: 1 }), resources: amounts.map(size) }), { maxLength: 2 }),
    protocol: fc.constantFrom(1, 2),
  })
  .map(({ all, allocated, usage, nodes, ...more }) =>
    cluster("paris", { ...all, allocated, usage, more: { ...more, nodeShapes: nodes } }),
  );
/** The same with a few things changed: of two that are unrelated hardly ever one allows all that the other does. */
const pair = fc
  .tuple(
    advertised,
    advertised,
    fc.subarray(["allocatable", "allocated", "usage", "labels", "nodeShapes", "protocol"] as const),
  )
  .map(([before, other, kept]) => ({
    before,
    after: kept.reduce<Advertisement>((after, name) => ({ ...after, [name]: other[name] }), before),
  }));
const wanted = fc.record({
  wanted: amounts,
  perNode: fc.option(amounts.map(size)),
  labels: fc.option(labels),
});

test("what may be lost never lets a request through that it would have kept out", () => {
  let compared = 0;
  fc.assert(
    fc.property(pair, wanted, ({ before, after }, asked) => {
      if (mustBeDurable(before, after)) return;
      compared++;
      const ledger = ledgerWithReservation();
      if (isGranted(ledger, before, asked)) expect(isGranted(ledger, after, asked)).toBe(true);
    }),
    runs(2000, 50_000),
  );
  expect(compared).toBeGreaterThan(100);
});

/** Paris lends one reservation, remembers another one's end, and has borrowed something itself. */
function ledgerWithReservation(): Ledger {
  const world = openWorld();
  world.advertise(cluster("paris"), cluster("tokyo"));
  world.grant("rome", request({ cpu: 1, memoryGi: 1 }, { target: "paris" }), "live");
  const ended = world.grant("rome", request({ cpu: 1, memoryGi: 1 }, { target: "paris" }), "ended");
  world.run({ kind: "release", by: actor("rome"), id: ended.id });
  world.grant("paris", request({ cpu: 1, memoryGi: 1 }, { target: "tokyo" }), "own");
  return world.ledger;
}

function isGranted(
  lent: Ledger,
  advertisement: Advertisement,
  {
    wanted,
    perNode,
    labels,
  }: { wanted: object; perNode: ReturnType<typeof size> | null; labels: object | null },
): boolean {
  const ledger = cloneLedger(lent);
  const usage = advertisement.usage.map((each) => ({
    ...each,
    reservationId: nameIn(lent, each.reservationId),
  }));
  const moment = { now: ledger.time, policy: openWorld().policy };
  const advertise = { kind: "advertise", advertisement: { ...advertisement, usage } } as const;
  for (const event of decide(ledger, advertise, moment).events) apply(ledger, event);
  const asked = request(wanted, {
    target: "paris",
    ...(perNode === null ? {} : { perNode }),
    ...(labels === null ? {} : { constraints: { labels: { ...labels } } }),
  });
  const reserve = {
    kind: "reserve",
    requester: "rome",
    request: asked,
    reservationId: "rsv-new",
    decisionId: "d",
  } as const;
  return decide(ledger, reserve, moment).reply.kind === "granted";
}

function nameIn({ reservations }: Ledger, name: string): string {
  return [...reservations.keys()].find((id) => id.endsWith(name.slice("rsv".length))) ?? name;
}
