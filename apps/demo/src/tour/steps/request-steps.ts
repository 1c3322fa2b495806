import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "@resource-broker/testkit";
import { REQUESTER, SMALL_FLEET, WINNER } from "../../fleet/small-fleet.ts";
import { clusterState } from "../../updates/cluster-state.ts";
import { clusterHeader, clusterRow, legend } from "../../view/cluster-rows.ts";
import { line, span } from "../../view/line.ts";
import { priceText } from "../../view/price-text.ts";
import { isActive, manifestOf, SHOP } from "../requests.ts";
import { check, explanationRows, step, type TourStep } from "../step.ts";

const overview = step({
  title: "Four clusters, one broker",
  narration:
    "Each cluster has an agent. It counts nodes and pods, and tells the broker what the cluster could lend. rome is nearly full.",
  run: async ({ account }) => {
    const accounts = await Promise.all(SMALL_FLEET.map(({ name }) => account(name)));
    check(
      accounts.every(({ resources }) => resources.allocatable.cpu !== "0"),
      `a cluster advertises nothing: ${JSON.stringify(accounts)}`,
    );
    return accounts.map((each) => clusterState(each, "ready"));
  },
  render: (clusters, columns) => [
    clusterHeader(columns),
    ...clusters.map((cluster) => clusterRow(cluster, columns)),
    legend(),
  ],
});

const request = step({
  title: "rome asks",
  narration: `Somebody in ${REQUESTER} creates a ResourceRequest. The agent asks the broker, which decides, locks the resources on disk and answers in the same HTTP response.`,
  run: async ({ createRequest, untilRequest, clock }) => {
    const askedAt = clock.monotonicMs();
    await createRequest(SHOP.name, SHOP.spec);
    const { status } = await untilRequest(SHOP.name, isActive);
    check(status?.targetClusterID === WINNER, `${WINNER} should lend, but it is ${status?.targetClusterID}`);
    return { status, afterMs: Math.round(clock.monotonicMs() - askedAt) };
  },
  render: ({ status, afterMs }) => [
    ...manifestOf(SHOP).map((text) => line(span(text, "quiet"))),
    line(),
    line(
      span(status.phase ?? "", "good"),
      ` after ${afterMs} ms: "${status.message}", ${priceText(status.cost)}`,
    ),
  ],
});

const reasons = step({
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
    return found;
  },
  render: explanationRows,
});

const instructions = step({
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
    return { borrowed, held };
  },
  render: ({ borrowed, held }) => [
    line(`in ${REQUESTER}   ReservationInstruction ${borrowed.metadata.name}`),
    line("          ", span(borrowed.spec.message ?? "", "good")),
    line(`in ${WINNER}  ProviderInstruction ${held.metadata.name}`),
    line("          ", span(held.spec.message ?? "", "good")),
  ],
});

/** From the first look to what both sides know. */
export const REQUEST_STEPS: readonly TourStep[] = [overview, request, reasons, instructions];
