import {
  ACTIVE_AFTER_MS,
  type GoBroker,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  startGoBroker,
  startWorld,
  type TestCertificates,
  testCertificates,
  until,
  type World,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { askFor } from "./testing/resource-request.ts";

const CLUSTERS = ["rome", "paris"].map((name) => ({
  name,
  nodes: [{ cpu: "16", memory: "64Gi" }],
  hasAgent: false,
}));

describe("agents whose broker is the Go predecessor", () => {
  let certificates: TestCertificates;
  let world: World;

  beforeAll(async () => {
    certificates = await testCertificates();
    world = await startWorld({ clusters: CLUSTERS, certificates });
    return world.dispose;
  });

  const polls = (broker: GoBroker, clusterId: string): number =>
    broker.received.filter((call) => call.clusterId === clusterId && call.url.includes("instructions"))
      .length;

  test.each([
    { what: "that can be asked by name", isFirstRelease: false },
    { what: "that cannot be asked by name", isFirstRelease: true },
  ])("let go of a reservation at its time, with one $what", async ({ isFirstRelease }) => {
    let aheadMs = 0;
    const clock = { wallMs: () => performance.timeOrigin + performance.now() + aheadMs };
    const credentials = certificates.broker;
    const broker = await startGoBroker({ credentials, clock, isFirstRelease, whenDone: onTestFinished });
    for (const { name } of CLUSTERS) {
      const flags = [`--broker-url=${broker.url}`, "--instruction-poll-interval=1s"];
      onTestFinished((await world.startInProcess(name, { flags })).stop);
    }
    const isAdvertised = () =>
      broker.received.some(({ clusterId, method }) => clusterId === "paris" && method === "POST");
    await until("paris has advertised", async () => isAdvertised() || undefined);
    aheadMs = ACTIVE_AFTER_MS;

    const [rome, paris] = [world.cluster("rome"), world.cluster("paris")];
    const name = isFirstRelease ? "short-first" : "short";
    await askFor(rome, name, { duration: "5s" });
    const isOver = (phase = ""): boolean => phase === "Released" || phase === "Failed";
    const { status } = await rome.until(RESOURCE_REQUESTS, name, (each) => isOver(each.status?.phase));
    expect(status).toMatchObject({ phase: "Released", reason: "Expired", targetClusterID: "paris" });
    const id = status?.reservationName ?? "";
    await rome.untilGone(RESERVATION_INSTRUCTIONS, id);
    await paris.untilGone(PROVIDER_INSTRUCTIONS, `${id}-provider`);

    // The Go broker lists it for up to a minute more: that is no news.
    const before = polls(broker, "paris");
    await until("paris was told again", async () => polls(broker, "paris") > before + 1 || undefined);
    expect(await paris.list(PROVIDER_INSTRUCTIONS)).toEqual([]);
  });
});
