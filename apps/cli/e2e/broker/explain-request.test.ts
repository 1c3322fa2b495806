import { join } from "node:path";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Outcome, runCli } from "../../src/testing/cli.ts";
import { type OneCluster, startOneCluster } from "../../src/testing/one-cluster.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;
let cluster: OneCluster;

beforeAll(async () => {
  const later = (cleanUp: () => Promise<void>): void => void cleanUps.push(cleanUp);
  fleet = await startFleet(later);
  const { err } = await fleet.as("rome", "reserve", "--cpu", "900", "--memory", "1Gi");
  const decisionID = /dec-\S+/u.exec(err)?.[0] ?? "";
  const good = GOOD_OBJECTS["ResourceRequest"] as { metadata: { name: string } };
  const request = (name: string, status: object) => ({
    ...good,
    metadata: { ...good.metadata, name },
    status,
  });
  cluster = await startOneCluster(later, {
    objects: [
      request("refused", { phase: "Failed", decisionID, explanation: "paris: 884 CPU short" }),
      request("new", { phase: "Pending", message: "waits for the broker" }),
      request("unseen", {}),
    ],
  });
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

function explain(word: string, broker = fleet.url): Promise<Outcome> {
  return runCli(["explain", word], {
    env: {
      KUBECONFIG: cluster.kubeconfig,
      BROKERCTL_BROKER: broker,
      BROKERCTL_CERTS: join(fleet.folder, "rome"),
    },
  });
}

test.each(["request/refused", "resourcerequest.rear.fluidos.eu/refused"])(
  "%s is explained by the broker",
  async (word) => {
    const { code, out } = await explain(word);
    expect(code).toBe(0);
    expect(out).toContain("paris");
    expect(out).toContain("Would fit paris");
  },
);

test("what the agent wrote down is reported when the broker is away", async () => {
  const { code, out, err } = await explain("request/refused", "https://127.0.0.1:1");
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain("What the agent wrote down:\nparis: 884 CPU short\n");
  expect(err).toContain("connection refused");
});

test.each([
  {
    word: "request/new",
    says: "the broker has decided nothing about request new yet; it is Pending: waits for the broker",
  },
  { word: "request/unseen", says: "it is not seen by an agent" },
  { word: "request/refsued", says: "did you mean refused?" },
])("$word has no decision, and it is said why", async ({ word, says }) => {
  const { code, err } = await explain(word);
  expect(code).toBe(1);
  expect(err).toContain(says);
});
