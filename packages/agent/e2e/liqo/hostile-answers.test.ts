import { readdir } from "node:fs/promises";
import { type Received, reply, type Script, scriptedBroker } from "@resource-broker/client/testing";
import type { ReservationDTO } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import {
  RESOURCE_REQUESTS,
  startInProcessAgent,
  type TestCertificates,
  testCertificates,
  type WorldCluster,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { aWireReservation } from "../../src/testing/samples.ts";
import { askFor } from "../testing/resource-request.ts";
import { liqoObjectsIn } from "./testing/liqo-objects.ts";
import { type LiqoWorld, liqoIdOf, startLiqoWorld } from "./testing/liqo-world.ts";

const START_TIMEOUT_MS = 600_000;

interface Row {
  readonly name: string;
  /** What a broker that means harm says of the loan. */
  readonly answer: Partial<ReservationDTO>;
  /** Either the reply is not believed at all, or the loan stands and its data plane is refused. */
  readonly refusal: "not believed" | "ClusterIDRefused" | "LiqoIDRefused" | "NameRefused";
}

const ROWS: readonly Row[] = [
  { name: "a provider one folder up", answer: { targetClusterID: "../paris" }, refusal: "not believed" },
  { name: "a provider that is a path", answer: { targetClusterID: "/etc/passwd" }, refusal: "not believed" },
  { name: "a provider of dots", answer: { targetClusterID: ".." }, refusal: "not believed" },
  {
    name: "a provider with two dots in a row",
    answer: { targetClusterID: "a..b" },
    refusal: "ClusterIDRefused",
  },
  {
    name: "a provider that is a flag",
    answer: { targetClusterID: "--kubeconfig=/x" },
    refusal: "not believed",
  },
  { name: "a provider with a blank", answer: { targetClusterID: "paris --help" }, refusal: "not believed" },
  { name: "a provider with a line end", answer: { targetClusterID: "paris\nrome" }, refusal: "not believed" },
  { name: "a provider with a null", answer: { targetClusterID: "paris\u0000" }, refusal: "not believed" },
  { name: "a provider with a command", answer: { targetClusterID: "$(reboot)" }, refusal: "not believed" },
  {
    name: "an ID of Liqo that is a flag",
    answer: { targetLiqoID: "--skip-confirm" },
    refusal: "not believed",
  },
  { name: "an ID of Liqo one folder up", answer: { targetLiqoID: "../paris" }, refusal: "not believed" },
  { name: "an ID of Liqo with a blank", answer: { targetLiqoID: "liqo paris" }, refusal: "not believed" },
  { name: "an ID of Liqo with a dot", answer: { targetLiqoID: "liqo.paris" }, refusal: "LiqoIDRefused" },
  { name: "a name that leaves its namespace", answer: { id: "../../nodes/rome-1" }, refusal: "not believed" },
  { name: "a name that is a flag", answer: { id: "--all" }, refusal: "not believed" },
  { name: "a name too long for a slice", answer: { id: `rsv-${"x".repeat(59)}` }, refusal: "NameRefused" },
];

describe("no word of a broker becomes a path, a flag or a process", () => {
  let world: LiqoWorld;
  let rome: WorldCluster;
  let certificates: TestCertificates;

  beforeAll(async () => {
    certificates = await testCertificates();
    world = await startLiqoWorld({
      clusters: [{ name: "rome", nodes: [{ cpu: "4", memory: "16Gi" }], hasAgent: false }],
    });
    rome = world.cluster("rome");
    return world.dispose;
  }, START_TIMEOUT_MS);

  test.each(ROWS)("$name", async ({ answer, refusal }) => {
    const broker = await scriptedBroker(certificates.broker, answering(answer));
    const agent = await startInProcessAgent({
      clusterId: "rome",
      brokerUrl: broker.url,
      certificates,
      kubeconfigFile: rome.kubeconfigFile,
      flags: world.flags,
    });
    onTestFinished(async () => {
      await agent.stop();
      await rome.client.delete(RESOURCE_REQUESTS, { name: "loan", namespace: "default" });
    });
    const files = await readdir(world.kubeconfigs);
    await askFor(rome, "loan");
    const request = await rome.until(RESOURCE_REQUESTS, "loan", (each) => refusalOf(each) !== undefined);
    expect(refusalOf(request)).toBe(refusal);
    expect(request.status?.phase).not.toBe("Active");
    expect(world.liqo.liqoctl.calls).toEqual([]);
    const liqoObjects = (await liqoObjectsIn(rome)).filter(
      (trace) => !trace.startsWith("ReservationInstruction "),
    );
    expect(liqoObjects).toEqual([]);
    expect(await readdir(world.kubeconfigs)).toEqual(files);
  });
});

/** How the loan was refused; undefined: nothing was said yet. */
function refusalOf({ status }: ResourceRequest): string | undefined {
  if (status?.message?.includes("the answer does not match the schema") === true) return "not believed";
  const peered = status?.conditions?.find(({ type }) => type === "Peered")?.reason;
  return peered?.endsWith("Refused") === true ? peered : undefined;
}

/** Grants whatever it is asked for, in these words. */
function answering(answer: Partial<ReservationDTO>): Script {
  return (response, received) => {
    const { method, url, headers } = received;
    if (method === "POST" && url === "/api/v1/reservations") {
      const spec = aWireReservation({
        targetLiqoID: liqoIdOf("paris"),
        requesterLiqoID: liqoIdOf("rome"),
        key: String(headers["idempotency-key"]),
        ...answer,
      });
      return reply(201, spec)(response, received);
    }
    if (url.startsWith("/api/v1/advertisements")) return reply(200, echo(received))(response, received);
    if (url.includes("watch=true"))
      return reply(404, { error: "no streams", code: "not-found" })(response, received);
    return reply(200, [])(response, received);
  };
}

function echo({ body }: Received): object {
  return { advertisement: JSON.parse(body === "" ? "{}" : body) as object };
}
