import { NODES } from "@resource-broker/kube";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS, until } from "@resource-broker/testkit";
import { REQUESTER, SMALL_FLEET, WINNER } from "../../fleet/plan-fleet.ts";
import { CAPACITY_TITLES, capacityCells, line, priceText, span, table } from "../../text.ts";
import { accountOf, accountRows, addsUp, type ClusterAccount } from "../cluster-account.ts";
import { check, explanationRows, isActive, manifestOf, SHOP, type TourStep } from "../step.ts";
import type { TourEnvironment } from "../tour-environment.ts";

const overview: TourStep = {
  title: "Four clusters, one broker",
  narration:
    "Each cluster has an agent. It counts nodes and pods, and tells the broker what the cluster could lend. rome is nearly full.",
  run: async ({ account }) => {
    const accounts = await Promise.all(SMALL_FLEET.map(({ name }) => account(name)));
    check(
      accounts.every(({ resources }) => resources.allocatable.cpu !== "0"),
      `a cluster advertises nothing: ${JSON.stringify(accounts)}`,
    );
    return table(
      ["CLUSTER", ...CAPACITY_TITLES],
      accounts.map(({ clusterID, resources, cost }) => [
        clusterID,
        ...capacityCells(resources.available, resources.allocatable, cost),
      ]),
    );
  },
};

const request: TourStep = {
  title: "rome asks",
  narration: `Somebody in ${REQUESTER} creates a ResourceRequest. The agent asks the broker, which decides, locks the resources on disk and answers in the same HTTP response.`,
  run: async ({ createRequest, untilRequest, clock }) => {
    const askedAt = clock.monotonicMs();
    await createRequest(SHOP.name, SHOP.spec);
    const { status } = await untilRequest(SHOP.name, isActive);
    check(status?.targetClusterID === WINNER, `${WINNER} should lend, but it is ${status?.targetClusterID}`);
    const afterMs = Math.round(clock.monotonicMs() - askedAt);
    return [
      ...manifestOf(SHOP).map((text) => line(span(text, "quiet"))),
      line(),
      line(
        span(status.phase ?? "", "good"),
        ` after ${afterMs} ms: "${status.message}", ${priceText(status.cost)}`,
      ),
    ];
  },
};

const reasons: TourStep = {
  title: `Why ${WINNER}?`,
  narration:
    "Every decision is stored with its values. Free capacity has the weight 0.7, the price 0.3. The same inputs always give the same winner:",
  run: async ({ decision, untilRequest }) => {
    const { status } = await untilRequest(SHOP.name, isActive);
    const found = await decision(status?.decisionID ?? "");
    check(found.winner === WINNER, `the decision names ${found.winner}`);
    check(
      found.candidates.length === SMALL_FLEET.length &&
        found.candidates.every(({ score, reason }) => (score === undefined) !== (reason === undefined)),
      "a candidate has neither a score nor a reason",
    );
    return explanationRows(found);
  },
};

const instructions: TourStep = {
  title: "Both sides get an instruction",
  narration: `${REQUESTER} gets a ReservationInstruction: the provider and the amount. ${WINNER} gets a ProviderInstruction, and holds the capacity.`,
  run: async ({ world, untilRequest }) => {
    const { status } = await untilRequest(SHOP.name, isActive);
    const id = status?.reservationName ?? "";
    const borrowed = await world
      .cluster(REQUESTER)
      .until(RESERVATION_INSTRUCTIONS, id, (each) => each.status?.delivered === true);
    const held = await world
      .cluster(WINNER)
      .until(PROVIDER_INSTRUCTIONS, `${id}-provider`, (each) => each.status?.enforced === true);
    check(borrowed.spec.requestedCPU === held.spec.requestedCPU, "the two instructions differ in their CPU");
    check(
      borrowed.spec.requestedMemory === held.spec.requestedMemory,
      "the two instructions differ in their memory",
    );
    return [
      line(`in ${REQUESTER}   ReservationInstruction ${borrowed.metadata.name}`),
      line("          ", span(borrowed.spec.message ?? "", "good")),
      line(`in ${WINNER}  ProviderInstruction ${held.metadata.name}`),
      line("          ", span(held.spec.message ?? "", "good")),
    ];
  },
};

/** From the first look to what both sides know. */
export const REQUEST_STEPS: readonly TourStep[] = [overview, request, reasons, instructions];

const LOST_NODE = `${WINNER}-2`;

/** The reservation of the shop, as the broker has it. */
async function shopReservation({ reservations, untilRequest }: TourEnvironment) {
  const { status } = await untilRequest(SHOP.name, isActive);
  return (await reservations()).find(({ id }) => id === status?.reservationName);
}

async function checkedAccount({ account }: TourEnvironment): Promise<ClusterAccount> {
  const balance = accountOf(await account(WINNER));
  check(addsUp(balance), `the books of ${WINNER} do not add up: ${JSON.stringify(balance)}`);
  check(balance.reserved.cpuMillis === 4000, `${WINNER} should hold 4 CPU: ${JSON.stringify(balance)}`);
  return balance;
}

const lessCapacity: TourStep = {
  title: `${WINNER} has less to lend`,
  narration:
    "Reserved is the sum of all live reservations. Reserved capacity is not offered to another cluster.",
  run: async (environment) => accountRows(await checkedAccount(environment)),
};

const lostNode: TourStep = {
  title: `${WINNER} loses a node`,
  narration: `Somebody cordons ${LOST_NODE}: half of the cluster accepts no new pods. The agent advertises this at once. Existing reservations stay; there is less for new ones.`,
  run: async (environment) => {
    const { client } = environment.world.cluster(WINNER);
    const before = await checkedAccount(environment);
    const patch = { kind: "merge", body: { spec: { unschedulable: true } } } as const;
    await client.patch(NODES, { name: { name: LOST_NODE }, patch });
    const after = await until(`${WINNER} advertises one node less`, async () => {
      const balance = accountOf(await environment.account(WINNER));
      return balance.allocatable.cpuMillis < before.allocatable.cpuMillis ? balance : undefined;
    });
    check(addsUp(after), `the books of ${WINNER} do not add up: ${JSON.stringify(after)}`);
    const kept = await shopReservation(environment);
    check(kept?.status.phase === "Active", `the reservation should be Active: ${JSON.stringify(kept)}`);
    return [
      ...accountRows(after),
      line(),
      line(`${kept.id} is `, span(kept.status.phase, "good"), " as before"),
    ];
  },
};

/** How lending changes the provider. */
export const CAPACITY_STEPS: readonly TourStep[] = [lessCapacity, lostNode];
