import { resourceVector } from "@resource-broker/base";
import type { DecisionDTO } from "@resource-broker/contract";
import type { UiDecisions, UiQuote } from "@resource-broker/contract/dashboard";
import { memoryDisk } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { requestOf } from "../../http/testing/samples.ts";
import { clustersOn } from "../testing/clusters.ts";
import { runningDashboards } from "../testing/running-dashboard.ts";

const start = runningDashboards();
const world = clustersOn(start);
const GI = 1024 ** 3;

describe("decisions", () => {
  test("are listed newest first and explained in full", async () => {
    const { read, reserve } = await world({ policy: { disclosure: "reasons" } });
    const { decisionID } = await reserve();
    await reserve("rome", requestOf("400", "8Gi"));
    const list = await read<UiDecisions>("/ui/decisions");
    expect(list.rows).toMatchObject([
      { requester: "rome", winner: null, reason: "capacity", asked: "400 CPU / 8Gi Memory", fitted: 0 },
      { id: decisionID, winner: "paris", reason: null, asked: "4 CPU / 8Gi Memory", considered: 3 },
    ]);
    expect((await read<UiDecisions>("/ui/decisions?outcome=refused")).total).toBe(1);
    expect((await read<UiDecisions>("/ui/decisions?requester=tokyo")).total).toBe(0);
    const why = await read<DecisionDTO>(`/ui/decisions/${decisionID}`);
    expect(why.candidates.map(({ clusterID }) => clusterID)).toEqual(["paris", "tokyo", "rome"]);
    expect(why.candidates[0]?.parts).toHaveProperty("resources");
  });

  test("from before a restart are listed too, each once and in the order they fell", async () => {
    const disk = memoryDisk();
    const first = await world({ disk });
    const { decisionID } = await first.reserve();
    await first.reserve("rome", requestOf("400", "8Gi"));
    await first.stop();
    const again = await start({ disk });
    await again.advertise("paris");
    await again.advertise("rome");
    // Not over the API: the bytes that ids are made of begin anew with each broker of a test.
    await again.broker.engine.submit({
      kind: "reserve",
      requester: "rome",
      request: {
        resources: resourceVector({ cpuMillis: 1000, memoryBytes: GI }),
        priority: 0,
        constraints: {},
        tier: "on-demand",
      },
      reservationId: "rsv-new",
      decisionId: "dec-new",
    });
    const { json } = await (await again.signIn()).get("/ui/decisions");
    const { rows } = json as UiDecisions;
    expect(rows.map(({ asked }) => asked)).toEqual([
      "1 CPU / 1Gi Memory",
      "400 CPU / 8Gi Memory",
      "4 CPU / 8Gi Memory",
    ]);
    expect(rows.at(-1)?.id).toBe(decisionID);
  });

  test.each(["nosuch", "constructor", "toString"])(
    "a weight for %s is refused: it would count for nothing",
    async (name) => {
      const { admin } = await world();
      const body = { requesterID: "rome", request: requestOf(), weights: { [name]: 1, cost: 1 } };
      const { status, text } = await admin.send("POST /ui/quotes", body);
      expect(status).toBe(400);
      expect(text).toContain(`${name} is none of resources, cost`);
    },
  );

  test("what would happen agrees with what happens then, and writes nothing", async () => {
    const { admin, reserve, broker } = await world();
    const before = broker.engine.commitNumber;
    const reply = await admin.send("POST /ui/quotes", { requesterID: "rome", request: requestOf() });
    const quote = reply.json as UiQuote;
    expect(quote).toMatchObject({ fits: true, policyWeights: { resources: 0.7, cost: 0.3 } });
    expect(broker.engine.commitNumber).toBe(before);
    const made = await reserve("rome", requestOf());
    expect(broker.engine.ledger.reservations.get(made.id)?.provider).toBe(quote.decision.winner);
  });

  test("other weights may change the winner, and only in the quote", async () => {
    const { admin, broker } = await world({
      policy: { ratings: { latency: { paris: 0.1, tokyo: 1 } } },
    });
    const winner = async (weights?: object): Promise<string | undefined> => {
      const body = { requesterID: "rome", request: requestOf(), ...(weights && { weights }) };
      return ((await admin.send("POST /ui/quotes", body)).json as UiQuote).decision.winner;
    };
    expect(await winner()).toBe("paris");
    expect(await winner({ latency: 1 })).toBe("tokyo");
    expect(broker.engine.policy.weights).toEqual({ resources: 0.7, cost: 0.3, latency: 0, reliability: 0 });
  });

  test.each([
    { name: "a cluster that nobody knows", body: { requesterID: "oslo", request: requestOf() }, status: 404 },
    { name: "no amounts", body: { requesterID: "rome", request: {} }, status: 400 },
    {
      name: "weights that weigh nothing",
      body: { requesterID: "rome", request: requestOf(), weights: { cost: 0 } },
      status: 400,
    },
    {
      name: "a weight below zero",
      body: { requesterID: "rome", request: requestOf(), weights: { cost: -1 } },
      status: 400,
    },
    { name: "no body", body: undefined, status: 400 },
  ])("a quote with $name is refused", async ({ body, status }) => {
    const { admin } = await world();
    expect(await admin.send("POST /ui/quotes", body)).toMatchObject({ status });
  });

  test("a viewer may ask what would happen", async () => {
    const { signIn } = await world();
    const viewer = await signIn("viewer");
    const body = { requesterID: "rome", request: requestOf() };
    expect(await viewer.send("POST /ui/quotes", body)).toMatchObject({ status: 200 });
  });
});
