import {
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  until,
} from "@resource-broker/testkit";
import { REQUESTER, WINNER } from "../../fleet/small-fleet.ts";
import { line, span } from "../../view/line.ts";
import { balanceOf, balanceRows } from "../balance.ts";
import { explanationRows } from "../explanation-rows.ts";
import { priceText } from "../price-text.ts";
import { GPU_LENDER, isActive, SHOP, SMALLER_TRAINING, TRAINING } from "../requests.ts";
import { claim, step, type TourStep } from "../step.ts";

const refusal = step({
  title: "A request that does not fit",
  says: `${REQUESTER} wants to train a model: 8 CPU, 32Gi of memory and 6 GPUs. No cluster has that. A refusal always states the reason for each cluster, and what would change the result:`,
  act: async ({ ask, untilRequest, decision, reservations }) => {
    await ask(TRAINING.name, TRAINING.spec);
    const { status } = await untilRequest(TRAINING.name, (each) => each.status?.phase === "Failed");
    const found = await decision(status?.decisionID ?? "");
    claim(found.winner === undefined, `somebody lends: ${found.winner}`);
    claim(
      found.candidates.every(({ message = "" }) => message !== ""),
      "a cluster was passed over without a reason",
    );
    claim(
      found.flip === `Would fit ${GPU_LENDER} with 4 GPU instead of 6.`,
      `what would flip it is another thing: ${found.flip}`,
    );
    const all = await reservations();
    claim(all.length === 1, `a refusal must reserve nothing, and there are ${all.length} reservations`);
    return found;
  },
  shows: explanationRows,
});

const flip = step({
  title: "The suggested request",
  says: "The suggestion is computed. The same request with 4 GPUs:",
  act: async ({ ask, untilRequest }) => {
    await ask(SMALLER_TRAINING.name, SMALLER_TRAINING.spec);
    const { status } = await untilRequest(SMALLER_TRAINING.name, isActive);
    claim(
      status?.targetClusterID === GPU_LENDER,
      `${GPU_LENDER} should lend, but it is ${status?.targetClusterID}`,
    );
    return status;
  },
  shows: (status) => [
    line(span(status.phase ?? "", "good"), `: "${status.message}", ${priceText(status.cost)}`),
  ],
});

const release = step({
  title: "Release",
  says: `The shop is done: its request is deleted. Both instructions are deleted, and ${WINNER} can lend those 4 CPUs again.`,
  act: async ({ world, untilRequest, reservations, account }) => {
    const { status } = await untilRequest(SHOP.name, isActive);
    const id = status?.reservationName ?? "";
    const [requester, provider] = [world.cluster(REQUESTER), world.cluster(WINNER)];
    await requester.client.delete(RESOURCE_REQUESTS, { name: SHOP.name, namespace: "default" });
    await requester.untilGone(RESERVATION_INSTRUCTIONS, id);
    await provider.untilGone(PROVIDER_INSTRUCTIONS, `${id}-provider`);
    const ended = (await reservations()).find((each) => each.id === id);
    claim(ended?.status.phase === "Released", `the reservation should be Released: ${JSON.stringify(ended)}`);
    const balance = await until(`${WINNER} holds nothing any more`, async () => {
      const found = balanceOf(await account(WINNER));
      return found.reserved.cpuMillis === 0 ? found : undefined;
    });
    return { ended, balance };
  },
  shows: ({ ended, balance }) => [
    line(`${ended.id} is `, span(ended.status.phase, "good"), `: ${ended.reason}`),
    line(),
    ...balanceRows(balance),
  ],
});

/** A refusal, the suggested request, and a release. */
export const REFUSING: readonly TourStep[] = [refusal, flip, release];
