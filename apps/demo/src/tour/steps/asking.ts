import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "@resource-broker/testkit";
import { REQUESTER, SMALL_FLEET, WINNER } from "../../fleet/small-fleet.ts";
import { clusterState } from "../../news/cluster-state.ts";
import { clusterHeader, clusterRow, legend } from "../../view/cluster-rows.ts";
import { line, span } from "../../view/line.ts";
import { explanationRows } from "../explanation-rows.ts";
import { priceText } from "../price-text.ts";
import { isActive, manifestOf, SHOP } from "../requests.ts";
import { claim, step, type TourStep } from "../step.ts";

const meet = step({
  title: "Four clusters, one broker",
  says: "Each cluster has an agent. It counts nodes and pods, and tells the broker what the cluster could lend. rome is nearly full.",
  act: async ({ account }) => {
    const accounts = await Promise.all(SMALL_FLEET.map(({ name }) => account(name)));
    claim(
      accounts.every(({ resources }) => resources.allocatable.cpu !== "0"),
      `a cluster advertises nothing: ${JSON.stringify(accounts)}`,
    );
    return accounts.map((each) => clusterState(each, "ready"));
  },
  shows: (clusters, columns) => [
    clusterHeader(columns),
    ...clusters.map((cluster) => clusterRow(cluster, columns)),
    legend(),
  ],
});

const request = step({
  title: "rome asks",
  says: `Somebody in ${REQUESTER} creates a ResourceRequest. The agent asks the broker, which decides, locks the resources on disk and answers in the same HTTP response.`,
  act: async ({ ask, untilRequest, clock }) => {
    const askedAt = clock.monotonicMs();
    await ask(SHOP.name, SHOP.spec);
    const { status } = await untilRequest(SHOP.name, isActive);
    claim(status?.targetClusterID === WINNER, `${WINNER} should lend, but it is ${status?.targetClusterID}`);
    return { status, afterMs: Math.round(clock.monotonicMs() - askedAt) };
  },
  shows: ({ status, afterMs }) => [
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
  says: "Every decision is stored with its values. Free capacity has the weight 0.7, the price 0.3. The same inputs always give the same winner:",
  act: async ({ decision, untilRequest }) => {
    const { status } = await untilRequest(SHOP.name, isActive);
    const found = await decision(status?.decisionID ?? "");
    claim(found.winner === WINNER, `the decision names ${found.winner}`);
    claim(
      found.candidates.length === SMALL_FLEET.length &&
        found.candidates.every(({ score, reason }) => (score === undefined) !== (reason === undefined)),
      "a candidate has neither a score nor a reason",
    );
    return found;
  },
  shows: explanationRows,
});

const instructions = step({
  title: "Both sides get an instruction",
  says: `${REQUESTER} gets a ReservationInstruction: the provider and the amount. ${WINNER} gets a ProviderInstruction, and holds the capacity.`,
  act: async ({ world, untilRequest }) => {
    const { status } = await untilRequest(SHOP.name, isActive);
    const id = status?.reservationName ?? "";
    const borrowed = await world
      .cluster(REQUESTER)
      .until(RESERVATION_INSTRUCTIONS, id, (each) => each.status?.delivered === true);
    const held = await world
      .cluster(WINNER)
      .until(PROVIDER_INSTRUCTIONS, `${id}-provider`, (each) => each.status?.enforced === true);
    claim(borrowed.spec.requestedCPU === held.spec.requestedCPU, "the two instructions differ in their CPU");
    claim(
      borrowed.spec.requestedMemory === held.spec.requestedMemory,
      "the two instructions differ in their memory",
    );
    return { borrowed, held };
  },
  shows: ({ borrowed, held }) => [
    line(`in ${REQUESTER}   ReservationInstruction ${borrowed.metadata.name}`),
    line("          ", span(borrowed.spec.message ?? "", "good")),
    line(`in ${WINNER}  ProviderInstruction ${held.metadata.name}`),
    line("          ", span(held.spec.message ?? "", "good")),
  ],
});

/** From the first look to what both sides know. */
export const ASKING: readonly TourStep[] = [meet, request, reasons, instructions];
