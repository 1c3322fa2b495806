import fc from "fast-check";
import { expect, test } from "vitest";
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

const agent = (sequence: number, instance = "a") => ({ more: { instance, sequence } });
const shapes = (...cpus: readonly number[]) => ({
  more: { nodeShapes: cpus.map((cpu) => ({ count: 1, resources: size({ cpu }) })) },
});

const holding = (granted: number, used: number, id = "rsv-1"): ClusterSketch => ({
  usage: [{ id, granted: { cpu: granted }, used: { cpu: used } }],
});
const labelled = (tier: string): ClusterSketch => ({ more: { labels: { tier } } });
const liqo = (clusterId: string): ClusterSketch => ({ more: { liqo: { clusterId, version: "1.2.0" } } });
const NO_NODE = { more: { nodeShapes: [{ count: 0, resources: size({ cpu: 8 }) }] } };
const NEW_NAMES = { more: { cost: priced(3), clusterName: "Paris", endpointUrl: "https://x" } };

type Row = readonly [name: string, before: ClusterSketch, after: ClusterSketch];

const DURABLE: readonly Row[] = [
  ["less is allocatable", {}, { cpu: 15 }],
  ["more is allocated", {}, { allocated: { memoryGi: 1 } }],
  ["more is allocated than there is", { allocated: { cpu: 17 } }, { allocated: { cpu: 18 } }],
  ["a resource is withdrawn", { extended: { "amd.com/gpu": 2 } }, {}],
  ["one resource grows and another shrinks", {}, { cpu: 32, memoryGi: 63 }],
  ["there is a new hold", {}, holding(4, 2)],
  ["there is a new hold of nothing", {}, { usage: [{ id: "rsv-1", granted: {}, used: {} }] }],
  ["a hold uses more", holding(4, 2), holding(4, 3)],
  ["a hold was granted more", holding(4, 2), holding(5, 2)],
  ["another hold takes the same", holding(4, 2), holding(4, 2, "rsv-2")],
  ["a label is gone", labelled("gold"), {}],
  ["a label changes", labelled("gold"), labelled("iron")],
  ["the largest node is gone", shapes(4, 8), shapes(4, 7)],
  ["it says nothing of its nodes any more", shapes(4), {}],
  ["the last node of a shape is gone", shapes(8), NO_NODE],
  ["an older agent speaks", {}, { more: { protocol: 1 } }],
  ["another process speaks for the cluster", agent(7), agent(1, "b")],
  ["it claims a Liqo ID", {}, liqo("a")],
  ["it gives a Liqo ID back", liqo("a"), liqo("b")],
  ["a post before it is missing", agent(7), agent(9)],
];
test.each(DURABLE)("an advertisement must outlive the process that hears it when %s", (_, before, after) => {
  expect(mustBeDurable(cluster("paris", before), cluster("paris", after))).toBe(true);
});

const SOFT: readonly Row[] = [
  ["nothing changed", agent(7), agent(8)],
  ["there is more of everything", {}, { cpu: 17, memoryGi: 65, gpu: 1 }],
  ["a hold is gone", holding(4, 2), {}],
  ["only prices and names changed", {}, NEW_NAMES],
  ["a larger node came", shapes(4, 8), shapes(4, 9)],
  ["a label came", {}, labelled("gold")],
  ["a newer agent took over", { more: { protocol: 1 } }, {}],
];
test.each(SOFT)("an advertisement may be lost when %s", (_, before, after) => {
  expect(mustBeDurable(cluster("paris", before), cluster("paris", after))).toBe(false);
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
