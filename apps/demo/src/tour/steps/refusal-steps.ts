import { rm } from "node:fs/promises";
import type { ReservationDTO } from "@resource-broker/contract";
import {
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  until,
} from "@resource-broker/testkit";
import { REQUESTER, WINNER } from "../../fleet/plan-fleet.ts";
import { line, priceText, span } from "../../text.ts";
import { accountOf, accountRows } from "../cluster-account.ts";
import {
  check,
  explanationRows,
  GPU_PROVIDER,
  isActive,
  SHOP,
  SMALLER_TRAINING,
  type TourStep,
  TRAINING,
  URGENT,
} from "../step.ts";
import type { TourEnvironment } from "../tour-environment.ts";

const refusal: TourStep = {
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
    return explanationRows(found);
  },
};

const flip: TourStep = {
  title: "The suggested request",
  narration: "The suggestion is computed. The same request with 4 GPUs:",
  run: async ({ createRequest, untilRequest }) => {
    await createRequest(SMALLER_TRAINING.name, SMALLER_TRAINING.spec);
    const { status } = await untilRequest(SMALLER_TRAINING.name, isActive);
    check(
      status?.targetClusterID === GPU_PROVIDER,
      `${GPU_PROVIDER} should lend, but it is ${status?.targetClusterID}`,
    );
    return [line(span(status.phase ?? "", "good"), `: "${status.message}", ${priceText(status.cost)}`)];
  },
};

const release: TourStep = {
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
    return [
      line(`${ended.id} is `, span(ended.status.phase, "good"), `: ${ended.reason}`),
      line(),
      ...accountRows(balance),
    ];
  },
};

/** A refusal, the suggested request, and a release. */
export const REFUSAL_STEPS: readonly TourStep[] = [refusal, flip, release];

/** The reservation that must survive, as the broker returns it now; undefined: the broker does not have it. */
async function survivor({
  reservations,
  untilRequest,
}: TourEnvironment): Promise<ReservationDTO | undefined> {
  const { status } = await untilRequest(URGENT.name, isActive);
  return (await reservations()).find(({ id }) => id === status?.reservationName);
}

/** What may not change, whatever happens to the broker. */
function stableFields(reservation: ReservationDTO | undefined): string {
  const { id, requesterID, targetClusterID, requestedResources, status } = reservation ?? {};
  return JSON.stringify([id, requesterID, targetClusterID, requestedResources, status?.phase]);
}

const kill: TourStep = {
  title: "kill -9",
  narration:
    "The broker answers only after the commit is on disk. So it may be killed at any moment. Here it is killed with kill -9 and starts again.",
  run: async (environment) => {
    const { broker } = environment.world;
    const [before, ledger] = await Promise.all([survivor(environment), environment.ledgerId()]);
    const pid = broker.pid;
    await broker.kill("SIGKILL");
    const { readyAfterMs } = await broker.restart();
    const after = await survivor(environment);
    check(
      after !== undefined && stableFields(after) === stableFields(before),
      `a reservation was lost: ${JSON.stringify(after)}`,
    );
    check((await environment.ledgerId()) === ledger, "the ledger is another one");
    return [
      line(span(`killed: process ${pid}`, "bad"), `, ready again after ${Math.round(readyAfterMs)} ms`),
      line(`ledger ${ledger}, as before`),
      line(
        `${after.id} is `,
        span(after.status.phase, "good"),
        ` at ${after.targetClusterID}: nothing is lost`,
      ),
    ];
  },
};

/** The instructions of the survivor: the very objects, not others of the same name. */
async function instructionsOf({ world }: TourEnvironment, id: string): Promise<string> {
  const [borrowed, held] = await Promise.all([
    world.cluster(REQUESTER).find(RESERVATION_INSTRUCTIONS, id),
    world.cluster(GPU_PROVIDER).find(PROVIDER_INSTRUCTIONS, `${id}-provider`),
  ]);
  check(borrowed !== undefined && held !== undefined, `an instruction of ${id} is gone`);
  return JSON.stringify([borrowed.metadata.uid, held.metadata.uid]);
}

const databaseLoss: TourStep = {
  title: "Its database is deleted",
  narration:
    "The worst case: no ledger, no backup. The agents see another Ledger-ID, keep their reservations and report them. The broker adopts what requester and provider both report.",
  run: async (environment) => {
    const { broker } = environment.world;
    const [before, ledger] = await Promise.all([survivor(environment), environment.ledgerId()]);
    const instructions = await instructionsOf(environment, before?.id ?? "");
    await broker.kill("SIGKILL");
    await rm(broker.storeDirectory, { recursive: true });
    await broker.restart();
    const newLedger = await environment.ledgerId();
    check(newLedger !== ledger, "the ledger should be a new one");
    const after = await until("both agents have brought it back", () => survivor(environment));
    check(stableFields(after) === stableFields(before), `it came back otherwise: ${JSON.stringify(after)}`);
    check((await instructionsOf(environment, after.id)) === instructions, "an instruction was made anew");
    const adopted = (await environment.audit()).find(
      ({ action, subject }) => action === "adopt" && subject === after.id,
    );
    check(adopted !== undefined, "the audit log does not know of the adoption");
    return [
      line(span(`deleted: ledger ${ledger}`, "bad")),
      line(`made:    ledger ${newLedger}`),
      line(`audit:   ${adopted.message}`),
      line(`${after.id} is `, span(after.status.phase, "good"), ": restored from the agents' reports"),
    ];
  },
};

/** What the broker survives. */
export const FAILURE_STEPS: readonly TourStep[] = [kill, databaseLoss];
