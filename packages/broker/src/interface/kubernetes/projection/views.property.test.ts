import { Fault, resourceVector } from "@resource-broker/base";
import { KUBE_LABEL } from "@resource-broker/contract/crd";
import { actor, runs } from "@resource-broker/domain/testing";
import type { KubeClient } from "@resource-broker/kube";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";
import { inOwnEnvironment, type TestBroker, type TestEnvironment } from "../testing/environment.ts";
import { expectViewsMatchLedger } from "../testing/expect-views-match-ledger.ts";
import { named } from "../testing/samples.ts";

const CLUSTERS = ["paris", "rome", "tokyo"];
const IDS = ["rsv-oslo-0", "rsv-oslo-1", "rsv-oslo-2", "rsv-oslo-3"];
/** What one change may cost: a spec and a status, each taken clean first, for a reservation and for its provider. */
const WRITES_A_CHANGE = 8;

const pick = fc.nat(11);
const doing = <Name extends string>(name: Name) => fc.record({ do: fc.constant(name), pick });
const step = fc.oneof(
  fc.record({ do: fc.constant("advertise" as const), pick, cpu: fc.integer({ min: 1, max: 32 }) }),
  doing("reserve"),
  doing("activate"),
  doing("release"),
  doing("delete"),
  doing("restart"),
  fc.record({ do: fc.constant("edit" as const), pick, what: fc.nat(9) }),
  fc.record({ do: fc.constant("outage" as const), isBegun: fc.boolean() }),
  fc.record({ do: fc.constant("mishap" as const), isDone: fc.boolean(), pick }),
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
const FORGERIES: readonly object[] = [
  { metadata: { labels: { [KUBE_LABEL.view]: null } } },
  { metadata: { labels: { [KUBE_LABEL.target]: "nowhere" } } },
  { spec: { resources: { allocatable: { cpu: "999" } } } },
  { spec: { cost: { cpuCost: "1", memoryCost: "1", currency: "EUR" } } },
  { status: { phase: "Released" } },
  { status: { phase: "Stale", score: "1.00" } },
  { status: { reason: "Expired" } },
  { status: { conditions: [condition] } },
  { status: null },
];

/** What the people of the namespace do; the API server refuses what makes no sense. */
async function meddle(people: KubeClient, which: number, act: "delete" | number): Promise<void> {
  const isCluster = which < CLUSTERS.length;
  const target = named(isCluster ? `${CLUSTERS[which] ?? ""}-adv` : (IDS[which % IDS.length] ?? ""));
  const resource = isCluster ? CLUSTER_ADVERTISEMENTS : RESERVATIONS;
  try {
    if (act === "delete") await people.delete(resource, target);
    else {
      const body = FORGERIES[act] ?? {};
      const where = "status" in body ? ({ subresource: "status" } as const) : {};
      await people.patch<unknown>(resource, { name: target, patch: { kind: "merge", body } }, where);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
}

async function change(env: TestEnvironment, broker: TestBroker, each: Step): Promise<unknown> {
  const id = "pick" in each ? (IDS[each.pick % IDS.length] ?? "") : "";
  switch (each.do) {
    case "advertise": {
      const amounts = resourceVector({ cpuMillis: each.cpu * 1000, memoryBytes: 2 ** 34 });
      const advertised = { capacity: amounts, allocatable: amounts };
      return broker.advertise(CLUSTERS[each.pick % CLUSTERS.length] ?? "", advertised);
    }
    case "reserve":
      return broker.engine.ledger.reservations.has(id) ? undefined : broker.reserve("oslo", id);
    case "activate":
      return broker.engine.submit({ kind: "activate", by: actor("oslo"), id });
    case "release":
      return broker.release("oslo", id);
    case "edit":
      return meddle(env.client, each.pick % 7, each.what);
    case "delete":
      return meddle(env.client, each.pick % 7, "delete");
    case "mishap": {
      const code = (["conflict", "unreachable", "overloaded"] as const)[each.pick % 3] ?? "conflict";
      return broker.failNext({ fault: new Fault(code, "planned"), isDone: each.isDone });
    }
    case "wait":
      return env.time.advance(each.ms);
    default:
      return undefined;
  }
}

test("whatever happens, once all is quiet the views are the ledger, by few and evenly paced writes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) =>
      inOwnEnvironment(async (env) => {
        const options = { objects: false, views: true };
        let broker = await env.startBroker({ options });
        let up = (): void => undefined;
        const writes = [];
        for (const each of steps) {
          if (each.do === "outage") {
            up();
            up = each.isBegun ? broker.goDown() : () => undefined;
          } else if (each.do === "restart") {
            up();
            await broker.stop();
            writes.push(...broker.writes);
            broker = await env.startBroker({ options, disk: broker.disk });
          } else await change(env, broker, each);
        }
        up();
        await env.time.advance(45_000);
        await expectViewsMatchLedger(env, broker);
        writes.push(...broker.writes);
        const times = writes.map(({ atMs }) => atMs);
        // A process that ended does not tell the next one how much it wrote.
        const lives = 1 + steps.filter(({ do: what }) => what === "restart").length;
        for (const from of times)
          expect(times.filter((at) => at >= from && at < from + 1000).length).toBeLessThanOrEqual(20 * lives);
        const objects = CLUSTERS.length + IDS.length;
        expect(writes.length).toBeLessThanOrEqual(WRITES_A_CHANGE * (steps.length + 1) + 2 * objects * lives);
      }),
    ),
    runs(30, 1000),
  );
});
