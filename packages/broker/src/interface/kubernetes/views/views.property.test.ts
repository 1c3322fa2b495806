import { Fault } from "@resource-broker/base";
import { KUBE_LABEL } from "@resource-broker/contract/crd";
import { actor, runs } from "@resource-broker/domain/testing";
import type { KubeClient } from "@resource-broker/kube";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";
import { NAMESPACE } from "../testing/environment.ts";
import { expectViewsMatchLedger } from "./testing/expect-views-match-ledger.ts";
import { simPlace, type ViewsEnvironment, viewsEnvironment } from "./testing/views-environment.ts";

const CLUSTERS = ["paris", "rome", "tokyo"];
const IDS = ["rsv-oslo-0", "rsv-oslo-1", "rsv-oslo-2", "rsv-oslo-3"];
/** What one change may cost: a spec and a status, each taken clean first, for a reservation and for its provider. */
const WRITES_A_CHANGE = 8;

const pick = fc.nat(11);
const step = fc.oneof(
  fc.record({ do: fc.constant("advertise" as const), pick, cpu: fc.integer({ min: 1, max: 32 }) }),
  fc.record({ do: fc.constant("reserve" as const), pick }),
  fc.record({ do: fc.constant("activate" as const), pick }),
  fc.record({ do: fc.constant("release" as const), pick }),
  fc.record({ do: fc.constant("edit" as const), pick, what: fc.nat(9) }),
  fc.record({ do: fc.constant("delete" as const), pick }),
  fc.record({ do: fc.constant("outage" as const), isBegun: fc.boolean() }),
  fc.record({ do: fc.constant("mishap" as const), isDone: fc.boolean(), pick }),
  fc.record({ do: fc.constant("restart" as const) }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 4000 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const condition = {
  type: "Orphaned",
  status: "True",
  reason: "X",
  message: "y",
  lastTransitionTime: "2026-01-05T12:00:00Z",
};
const FORGERIES: readonly { readonly body: object; readonly isStatus: boolean }[] = [
  { body: { metadata: { labels: { [KUBE_LABEL.view]: null } } }, isStatus: false },
  { body: { metadata: { labels: { [KUBE_LABEL.target]: "nowhere" } } }, isStatus: false },
  { body: { spec: { resources: { allocatable: { cpu: "999" } } } }, isStatus: false },
  { body: { spec: { cost: { cpuCost: "1", memoryCost: "1", currency: "EUR" } } }, isStatus: false },
  { body: { status: { phase: "Released" } }, isStatus: true },
  { body: { status: { phase: "Stale", score: "1.00" } }, isStatus: true },
  { body: { status: { reason: "Expired" } }, isStatus: true },
  { body: { status: { conditions: [condition] } }, isStatus: true },
  { body: { status: null }, isStatus: true },
];

/** What the people of the namespace do; the API server refuses what makes no sense. */
async function meddle(people: KubeClient, which: number, act: "delete" | number): Promise<void> {
  const isCluster = which < CLUSTERS.length;
  const name = isCluster ? `${CLUSTERS[which] ?? ""}-adv` : (IDS[which % IDS.length] ?? "");
  const target = { namespace: NAMESPACE, name };
  const resource = isCluster ? CLUSTER_ADVERTISEMENTS : RESERVATIONS;
  try {
    if (act === "delete") await people.delete(resource, target);
    else {
      const { body, isStatus } = FORGERIES[act] ?? { body: {}, isStatus: false };
      const where = isStatus ? ({ subresource: "status" } as const) : {};
      await people.patch<unknown>(resource, { name: target, patch: { kind: "merge", body } }, where);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
}

async function change(world: ViewsEnvironment, each: Step): Promise<void> {
  const id = "pick" in each ? (IDS[each.pick % IDS.length] ?? "") : "";
  switch (each.do) {
    case "advertise": {
      const resources = {
        cpuMillis: each.cpu * 1000,
        memoryBytes: 2 ** 34,
        storageBytes: 0,
        gpus: 0,
        extended: {},
      };
      const advertised = { capacity: resources, allocatable: resources };
      await world.advertise(CLUSTERS[each.pick % CLUSTERS.length] ?? "", advertised);
      return;
    }
    case "reserve":
      if (!world.engine.ledger.reservations.has(id)) await world.reserve("oslo", id);
      return;
    case "activate":
      await world.submit({ kind: "activate", by: actor("oslo"), id });
      return;
    case "release":
      await world.release("oslo", id);
      return;
    case "edit":
      return meddle(world.people, each.pick % 7, each.what);
    case "delete":
      return meddle(world.people, each.pick % 7, "delete");
    case "mishap": {
      const code = (["conflict", "unreachable", "overloaded"] as const)[each.pick % 3] ?? "conflict";
      world.failNext({ fault: new Fault(code, "planned"), isDone: each.isDone });
      return;
    }
    case "wait":
      await world.time.advance(each.ms);
      return;
    case "outage":
    case "restart":
      return;
  }
}

test("whatever happens, once all is quiet the views are the ledger, by few and evenly paced writes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const simNamespace = await simPlace();
      let world = await viewsEnvironment(simNamespace);
      await world.start();
      let up = (): void => undefined;
      const writes = [];
      try {
        for (const each of steps) {
          if (each.do === "outage") {
            up();
            up = each.isBegun ? world.goDown() : () => undefined;
          } else if (each.do === "restart") {
            up();
            await world.stop();
            await world.engine.stop();
            writes.push(...world.writes);
            world = await viewsEnvironment(simNamespace, { disk: world.disk });
            await world.start();
          } else await change(world, each);
        }
        up();
        await simNamespace.time.advance(45_000);
        await expectViewsMatchLedger(world);
        writes.push(...world.writes);
        const times = writes.map(({ atMs }) => atMs);
        // A process that ended does not tell the next one how much it wrote.
        const lives = 1 + steps.filter(({ do: what }) => what === "restart").length;
        for (const from of times)
          expect(times.filter((at) => at >= from && at < from + 1000).length).toBeLessThanOrEqual(20 * lives);
        const objects = CLUSTERS.length + IDS.length;
        expect(writes.length).toBeLessThanOrEqual(WRITES_A_CHANGE * (steps.length + 1) + 2 * objects * lives);
      } finally {
        await world.stop();
        await world.engine.stop();
        await simNamespace.end();
      }
    }),
    runs(30, 1000),
  );
});
