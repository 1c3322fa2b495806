import { reply } from "@resource-broker/client/testing";
import {
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  startWorld,
  type TestCertificates,
  testCertificates,
  until,
  type World,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { askFor, untilActive } from "./testing/resource-request.ts";
import { reservationOf, type ScriptedReservations, standIn } from "./testing/scripted-reservations.ts";

const CLUSTERS = ["rome", "paris"].map((name) => ({
  name,
  nodes: [{ cpu: "16", memory: "64Gi" }],
  hasAgent: false,
}));

describe("an agent whose broker is a stand-in", () => {
  let certificates: TestCertificates;
  let world: World;

  beforeAll(async () => {
    certificates = await testCertificates();
    world = await startWorld({ clusters: CLUSTERS, certificates });
    return world.dispose;
  });

  /** The agent of a cluster, on a line to a broker that says what it is told to. */
  const agentOf = async (cluster: string): Promise<ScriptedReservations> => {
    const broker = await standIn(certificates.broker);
    const agent = await world.startInProcess(cluster, { flags: [`--broker-url=${broker.url}`] });
    onTestFinished(agent.stop);
    await broker.connected();
    return broker;
  };

  const lasting = [
    {
      status: 409,
      body: {
        error: "No cluster can lend 4 CPU / 8Gi Memory to rome; 1 considered.",
        code: "no-capacity",
        reasons: [{ clusterID: "paris", reason: "capacity", message: "needs 3 more CPU" }],
        decisionID: "dec-1",
      },
      says: { reason: "NoCapacity", explanation: "paris: needs 3 more CPU", decisionID: "dec-1" },
    },
    {
      status: 422,
      body: { error: "at most 24h are granted", code: "ttl-too-long" },
      says: { reason: "Invalid", message: "at most 24h are granted" },
    },
  ];

  test.each(lasting)("takes $status for the last word, and shows it", async ({ status, body, says }) => {
    const broker = await agentOf("rome");
    broker.answerNext(reply(status, body));
    const name = `refused-${status}`;
    await askFor(world.cluster("rome"), name);
    const request = await world
      .cluster("rome")
      .until(RESOURCE_REQUESTS, name, (each) => each.status?.phase === "Failed");
    expect(request.status).toMatchObject(says);
    expect(await world.cluster("rome").list(RESERVATION_INSTRUCTIONS)).toEqual([]);
    expect(broker.keys()).toHaveLength(1);
  });

  const passing = [
    { status: 429, code: "rate-limited" },
    { status: 500, code: "internal" },
  ];

  test.each(passing)("asks again after $status, with the same key", async ({ status, code }) => {
    const broker = await agentOf("rome");
    const [rome, name] = [world.cluster("rome"), `busy-${status}`];
    broker.answerNext(reply(status, { error: "not now", code }, { "Retry-After": "1" }));
    await askFor(rome, name);
    const { request, reservationName } = await untilActive(rome, name);
    expect(request.status?.attempts).toBe(1);
    expect(new Set(broker.keys()).size).toBe(1);
    expect(broker.keys().length).toBeGreaterThan(1);
    await rome.client.delete(RESOURCE_REQUESTS, { name, namespace: "default" });
    await rome.untilGone(RESERVATION_INSTRUCTIONS, reservationName);
  });

  test("holds once what it is told twice, in the wrong order, or about others", async () => {
    const broker = await agentOf("paris");
    const paris = world.cluster("paris");
    const names = async () => (await paris.list(PROVIDER_INSTRUCTIONS)).map(({ metadata }) => metadata.name);
    const held = reservationOf("rsv-rome-held", "paris");
    const ended = reservationOf("rsv-rome-ended", "paris", { phase: "Released", generation: 3 });
    for (const reservation of [
      held,
      held,
      ended,
      reservationOf("rsv-rome-ended", "paris", { phase: "Active", generation: 2 }),
      reservationOf("rsv-rome-elsewhere", "berlin"),
      held,
    ]) {
      broker.send("instruction", reservation);
    }
    // What is told last is begun last: when both are there, the others had their time.
    broker.send("instruction", reservationOf("rsv-rome-last", "paris"));
    await until("both are acknowledged", async () => {
      const received = broker.acknowledged();
      return ["rsv-rome-held", "rsv-rome-last"].every((id) => received.includes(id)) || undefined;
    });
    expect(await names()).toEqual(["rsv-rome-held-provider", "rsv-rome-last-provider"]);
    expect(broker.acknowledged().filter((id) => id === "rsv-rome-held")).toHaveLength(1);
    for (const id of ["rsv-rome-held", "rsv-rome-last"]) {
      broker.send("instruction", reservationOf(id, "paris", { phase: "Released", generation: 2 }));
      broker.send("instruction", reservationOf(id, "paris"));
    }
    await until("all are gone", async () => (await names()).length === 0 || undefined);
  });
});
