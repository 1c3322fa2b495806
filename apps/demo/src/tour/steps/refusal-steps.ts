import {
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  until,
} from "@resource-broker/testkit";
import { REQUESTER, WINNER } from "../../fleet/small-fleet.ts";
import { line, span } from "../../view/line.ts";
import { priceText } from "../../view/price-text.ts";
import { accountOf, accountRows } from "../cluster-account.ts";
import { GPU_PROVIDER, isActive, SHOP, SMALLER_TRAINING, TRAINING } from "../requests.ts";
import { check, explanationRows, step, type TourStep } from "../step.ts";

const refusal = step({
  title: "A request that does not fit",
  narration: `${REQUESTER} wants to train a model: 8 CPU, 32Gi of memory and 6 GPUs. No cluster has that. A refusal always states the reason for each cluster, and what would change the result:`,
  run: async ({ createRequest, untilRequest, decision, reservations }) => {
    await createRequest(TRAINING.name, TRAINING.spec);
    const { status } = await untilRequest(TRAINING.name, (each) => each.status?.phase === "Failed");
    const found = await decision(status?.decisionID ?? "");
    check(found.winner === undefined, `somebody lends: ${found.winner}`);
    check(
      found.candidates.every(({ message = "" }) => message !== ""),
      "a cluster was passed over without a reason",
    );
    check(
      found.flip === `Would fit ${GPU_PROVIDER} with 4 GPU instead of 6.`,
      `what would flip it is another thing: ${found.flip}`,
    );
    const all = await reservations();
    check(all.length === 1, `a refusal must reserve nothing, and there are ${all.length} reservations`);
    return found;
  },
  render: explanationRows,
});

const flip = step({
  title: "The suggested request",
  narration: "The suggestion is computed. The same request with 4 GPUs:",
  run: async ({ createRequest, untilRequest }) => {
    await createRequest(SMALLER_TRAINING.name, SMALLER_TRAINING.spec);
    const { status } = await untilRequest(SMALLER_TRAINING.name, isActive);
    check(
      status?.targetClusterID === GPU_PROVIDER,
      `${GPU_PROVIDER} should lend, but it is ${status?.targetClusterID}`,
    );
    return status;
  },
  render: (status) => [
    line(span(status.phase ?? "", "good"), `: "${status.message}", ${priceText(status.cost)}`),
  ],
});

const release = step({
  title: "Release",
  narration: `The shop is done: its request is deleted. Both instructions are deleted, and ${WINNER} can lend those 4 CPUs again.`,
  run: async ({ world, untilRequest, reservations, account }) => {
    const { status } = await untilRequest(SHOP.name, isActive);
    const id = status?.reservationName ?? "";
    const [requester, provider] = [world.cluster(REQUESTER), world.cluster(WINNER)];
    await requester.client.delete(RESOURCE_REQUESTS, { name: SHOP.name, namespace: "default" });
    await requester.untilGone(RESERVATION_INSTRUCTIONS, id);
    await provider.untilGone(PROVIDER_INSTRUCTIONS, `${id}-provider`);
    const ended = (await reservations()).find((each) => each.id === id);
    check(ended?.status.phase === "Released", `the reservation should be Released: ${JSON.stringify(ended)}`);
    const balance = await until(`${WINNER} holds nothing any more`, async () => {
      const found = accountOf(await account(WINNER));
      return found.reserved.cpuMillis === 0 ? found : undefined;
    });
    return { ended, balance };
  },
  render: ({ ended, balance }) => [
    line(`${ended.id} is `, span(ended.status.phase, "good"), `: ${ended.reason}`),
    line(),
    ...accountRows(balance),
  ],
});

/** A refusal, the suggested request, and a release. */
export const REFUSAL_STEPS: readonly TourStep[] = [refusal, flip, release];
