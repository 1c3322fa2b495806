import { Fault, parseTime } from "@resource-broker/base";
import { decisionCall } from "@resource-broker/client";
import type { DecisionDTO, ReservationDTO } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import { decisionText } from "../decisions/print-decision.ts";
import { age } from "../output/age.ts";
import { described } from "../output/amounts.ts";
import { type Styler, stylerFor } from "../output/colour.ts";
import { costText } from "../output/price.ts";
import { print } from "../output/print.ts";
import { properties } from "../output/table.ts";
import type { DESCRIBE_RESERVATION_OPTIONS } from "./options.ts";
import { readReservation } from "./read-reservations.ts";
import { expiryOf, PHASE_STYLES } from "./reservation-columns.ts";
import { reservationIdIn } from "./reservation-id.ts";

export const describeReservation: Run<typeof DESCRIBE_RESERVATION_OPTIONS> = async (
  { options, words },
  host,
) => {
  const id = reservationIdIn(words[0] ?? "");
  const styled = stylerFor(host);
  await withBroker(options, host, async (broker) => {
    const { value: reservation, at } = await readReservation(broker, id);
    const decision = await decisionOf(broker, reservation);
    const text = (isWide: boolean): string => {
      const why = decision === undefined ? "" : `\n${decisionText(decision, { styled, isWide })}`;
      return `${properties(rowsOf(reservation, at, styled))}${why}`;
    };
    const data = { reservation, ...(decision === undefined ? {} : { decision }) };
    print(
      { data, table: () => text(false), wide: () => text(true), names: () => [id] },
      options.output,
      host,
    );
  });
};

/** Only its requester and admins may read it, and it is not kept for ever: without it the rest is shown. */
async function decisionOf(broker: Broker, { decisionID }: ReservationDTO): Promise<DecisionDTO | undefined> {
  if (decisionID === undefined) return undefined;
  try {
    return (await broker.request(decisionCall(decisionID))).value;
  } catch (error) {
    if (error instanceof Fault && error.code === "not-found") return undefined;
    throw error;
  }
}

function rowsOf(reservation: ReservationDTO, at: number, styled: Styler): (readonly [string, string])[] {
  const { status, cost, createdAt } = reservation;
  const rows: (readonly [string, string | undefined])[] = [
    ["Name", reservation.id],
    ["Requester", reservation.requesterID],
    ["Provider", reservation.targetClusterID],
    ["Resources", described(reservation.requestedResources)],
    ["Phase", styled(status.phase, PHASE_STYLES[status.phase])],
    ["Reason", reservation.reason],
    ["Message", status.message],
    ["Made", `${age(at - (parseTime(createdAt) ?? at))} ago (${createdAt})`],
    [
      "Expires",
      status.expiresAt === undefined
        ? "when it is released"
        : `${expiryOf(reservation, at)} (${status.expiresAt})`,
    ],
    ["Price", costText(cost)],
    ["Tier", reservation.tier],
    ["Priority", reservation.priority === 0 ? undefined : reservation.priority?.toString()],
    ["Key", reservation.key],
    ["Provider's endpoint", reservation.targetClusterEndpoint],
    ["Liqo", liqoOf(reservation)],
    ["Decision", reservation.decisionID],
  ];
  return rows.flatMap(([title, value]) => (value === undefined ? [] : [[title, value] as const]));
}

function liqoOf({ requesterLiqoID, targetLiqoID }: ReservationDTO): string | undefined {
  if (requesterLiqoID === undefined && targetLiqoID === undefined) return undefined;
  return `${requesterLiqoID ?? "?"} borrows from ${targetLiqoID ?? "?"}`;
}
