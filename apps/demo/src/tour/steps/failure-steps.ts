import { rm } from "node:fs/promises";
import type { ReservationDTO } from "@resource-broker/contract";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS, until } from "@resource-broker/testkit";
import { REQUESTER } from "../../fleet/small-fleet.ts";
import { line, span } from "../../view/line.ts";
import { GPU_PROVIDER, isActive, SMALLER_TRAINING } from "../requests.ts";
import { check, step, type TourStep } from "../step.ts";
import type { TourEnvironment } from "../tour-environment.ts";

/** The reservation that must survive, as the broker returns it now; undefined: the broker does not have it. */
async function trainingReservation({
  reservations,
  untilRequest,
}: TourEnvironment): Promise<ReservationDTO | undefined> {
  const { status } = await untilRequest(SMALLER_TRAINING.name, isActive);
  return (await reservations()).find(({ id }) => id === status?.reservationName);
}

/** What may not change, whatever happens to the broker. */
function stableFields(reservation: ReservationDTO | undefined): string {
  const { id, requesterID, targetClusterID, requestedResources, status } = reservation ?? {};
  return JSON.stringify([id, requesterID, targetClusterID, requestedResources, status?.phase]);
}

const kill = step({
  title: "kill -9",
  narration:
    "The broker answers only after the commit is on disk. So it may be killed at any moment. Here it is killed with kill -9 and starts again.",
  run: async (environment) => {
    const { broker } = environment.world;
    const [before, ledger] = await Promise.all([trainingReservation(environment), environment.ledgerId()]);
    const pid = broker.pid;
    await broker.kill("SIGKILL");
    const { readyAfterMs } = await broker.restart();
    const after = await trainingReservation(environment);
    check(
      after !== undefined && stableFields(after) === stableFields(before),
      `a reservation was lost: ${JSON.stringify(after)}`,
    );
    check((await environment.ledgerId()) === ledger, "the ledger is another one");
    return { pid, readyAfterMs, after, ledger };
  },
  render: ({ pid, readyAfterMs, after, ledger }) => [
    line(span(`killed: process ${pid}`, "bad"), `, ready again after ${Math.round(readyAfterMs)} ms`),
    line(`ledger ${ledger}, as before`),
    line(
      `${after.id} is `,
      span(after.status.phase, "good"),
      ` at ${after.targetClusterID}: nothing is lost`,
    ),
  ],
});

/** The instructions of the survivor: the very objects, not others of the same name. */
async function instructionsOf({ world }: TourEnvironment, id: string): Promise<string> {
  const [borrowed, held] = await Promise.all([
    world.cluster(REQUESTER).find(RESERVATION_INSTRUCTIONS, id),
    world.cluster(GPU_PROVIDER).find(PROVIDER_INSTRUCTIONS, `${id}-provider`),
  ]);
  check(borrowed !== undefined && held !== undefined, `an instruction of ${id} is gone`);
  return JSON.stringify([borrowed.metadata.uid, held.metadata.uid]);
}

const databaseLoss = step({
  title: "Its database is deleted",
  narration:
    "The worst case: no ledger, no backup. The agents see another Ledger-ID, keep their reservations and report them. The broker adopts what requester and provider both report.",
  run: async (environment) => {
    const { broker } = environment.world;
    const [before, ledger] = await Promise.all([trainingReservation(environment), environment.ledgerId()]);
    const instructions = await instructionsOf(environment, before?.id ?? "");
    await broker.kill("SIGKILL");
    await rm(broker.storeDirectory, { recursive: true });
    await broker.restart();
    const newLedger = await environment.ledgerId();
    check(newLedger !== ledger, "the ledger should be a new one");
    const after = await until("both agents have brought it back", () => trainingReservation(environment));
    check(stableFields(after) === stableFields(before), `it came back otherwise: ${JSON.stringify(after)}`);
    check((await instructionsOf(environment, after.id)) === instructions, "an instruction was made anew");
    const adopted = (await environment.audit()).find(
      ({ action, subject }) => action === "adopt" && subject === after.id,
    );
    check(adopted !== undefined, "the audit log does not know of the adoption");
    return { ledger, newLedger, after, adopted };
  },
  render: ({ ledger, newLedger, after, adopted }) => [
    line(span(`deleted: ledger ${ledger}`, "bad")),
    line(`made:    ledger ${newLedger}`),
    line(`audit:   ${adopted.message}`),
    line(`${after.id} is `, span(after.status.phase, "good"), ": restored from the agents' reports"),
  ],
});

/** What the broker survives. */
export const FAILURE_STEPS: readonly TourStep[] = [kill, databaseLoss];
