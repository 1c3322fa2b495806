import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { afterAll, describe, expect, test } from "vitest";
import { NOWHERE } from "../../src/testing/cli.ts";
import { startOneCluster } from "../../src/testing/one-cluster.ts";
import { startFleet } from "./testing/fleet.ts";

const ASKED = "--cpu 4 --memory 8Gi";
const fleet = await startFleet(
  afterAll,
  "version: strict-1\ndisclosure: reasons\nquotas: { berlin: { cpu: 1 } }\n",
);
const { expectDialogue } = fleet;
const reservation = await fleet.reserve("rome", ASKED);
const { err } = await fleet.as("rome", "reserve --cpu 17 --memory 8Gi");
const refusal = /explain (dec-\S+)/u.exec(err)?.[1] ?? "";

test("explain ranks who fitted with the parts of the score, then tells who did not, why and what was missing", async () => {
  const { code, out, err } = await fleet.as("ops", `explain reservation/${reservation}`);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toBe(
    [
      "paris lends 4 CPU / 8Gi Memory to rome.",
      "",
      "CLUSTER   SCORE   RESOURCES   COST    PRICE          VERDICT",
      "paris     0.797   0.813       0.761   0.2029 EUR/h   Chosen",
      "tokyo     0.738   0.625       1.000   0.1544 EUR/h   Fitted",
      "",
      "score = 0.7 x resources + 0.3 x cost (policy strict-1)",
      "",
      "CLUSTER   PASSED OVER FOR   MISSING   WHY",
      "berlin    capacity          2 CPU     needs 2 more CPU",
      "rome      self              -         is the requester itself (also: capacity)",
      "",
      "Flip: tokyo would win below 0.1141 EUR/h.",
      "",
    ].join("\n"),
  );
});

test("explain of a refusal says what would fit; figures are for those who may see them, decisions for their parties", async () => {
  const decision = await fleet.ok("ops", `explain ${reservation} -o name`);
  const none = "No cluster can lend 17 CPU / 8Gi Memory to rome; 4 considered.\n";
  const flip = /\nFlip: Would fit paris with 12 CPU instead of 17\.\n$/u;
  const chosen = "CLUSTER   VERDICT\nparis     Chosen\ntokyo     Fitted\n";
  const reason = /\nberlin +capacity +- +does not have enough CPU\n/u;
  await expectDialogue(
    ["ops", `explain decision/${refusal}`, 0, none, /\nparis +capacity +5 CPU +needs 5 more CPU\n/u, flip],
    ["rome", `explain ${reservation}`, 0, chosen, reason, /^((?!0\.7)[^])*$/u],
    ["ops", "explain dec-none", 1, 'there is no decision "dec-none" here'],
    ["tokyo", `explain ${decision}`, 1],
  );
});

describe("explain a request of a cluster", async () => {
  const good = GOOD_OBJECTS["ResourceRequest"] as { metadata: { name: string } };
  const request = (name: string, status: object) => ({
    ...good,
    metadata: { ...good.metadata, name },
    status,
  });
  const waiting = await fleet.ok("rome", "reserve --cpu 17 --memory 1Gi --wait 1h --no-follow -o name");
  const { kubeconfig } = await startOneCluster(afterAll, {
    objects: [
      request("refused", { phase: "Failed", decisionID: refusal, explanation: "paris: 884 CPU short" }),
      request("new", { phase: "Pending", message: "waits for the broker" }),
      request("unseen", {}),
      request("waiting", { phase: "Pending", reservationName: waiting, message: "Waits for 17 CPU" }),
    ],
  });
  const undecided =
    "the broker has decided nothing about request new yet; it is Pending: waits for the broker";
  test.each<[name: string, broker: string, code: number, ...says: string[]]>([
    ["request/refused", fleet.url, 0, "No cluster can lend 17 CPU"],
    ["resourcerequest.rear.fluidos.eu/refused", fleet.url, 0, "No cluster can lend 17 CPU"],
    [
      "request/refused",
      NOWHERE,
      1,
      "What the agent wrote down:\nparis: 884 CPU short\n",
      "connection refused",
    ],
    ["request/new", fleet.url, 1, undecided],
    ["request/waiting", fleet.url, 0, "at position 1 of 1", "No cluster can lend 17 CPU"],
    ["request/waiting", NOWHERE, 1, "What the agent wrote down:\nWaits for 17 CPU\n"],
    ["request/unseen", fleet.url, 1, "it is not seen by an agent"],
    ["request/refsued", fleet.url, 1, "did you mean refused?"],
  ])("%s at %s ends with %i", async (word, broker, code, ...says) => {
    const env = { KUBECONFIG: kubeconfig, BROKERCTL_BROKER: broker };
    const ended = await fleet.asWith({ env }, "rome", `explain ${word}`);
    expect(ended).toMatchObject({ code });
    for (const each of says) expect(ended.out + ended.err).toContain(each);
  });
});

test("quote tells who would lend and at what price, and holds nothing; without anybody it ends with status 3", async () => {
  const before = await fleet.data("ops", "get reservations");
  const price = "\nPrice: 0.1544 EUR/h, 0.3087 EUR in all. Nothing is reserved.\n";
  await expectDialogue(
    ["ops", `quote ${ASKED} --duration 2h`, 0, price],
    ["berlin", `quote ${ASKED}`, 3, "berlin may hold 1 CPU"],
  );
  expect(await fleet.data("ops", "get reservations")).toEqual(before);
  const { code, out, err } = await fleet.as("ops", `quote ${ASKED} --gpu 1 -o json`);
  expect({ code, err }).toEqual({ code: 3, err: "brokerctl: no cluster can lend that now\n" });
  expect(JSON.parse(out)).toMatchObject({ fits: false, decision: { fitted: 0 } });
});

test("replay computes the winner again from the record, where there is one and its figures may be seen", async () => {
  const replayed = await fleet.data("ops", `replay ${reservation}`);
  expect(replayed).toMatchObject({ recorded: "paris", computed: "paris", same: true, tie: false });
  await expectDialogue(
    ["rome", `replay ${reservation}`, 5, "use an admin's certificate"],
    ["ops", `replay ${refusal}`, 1, "has no winner"],
  );
});
