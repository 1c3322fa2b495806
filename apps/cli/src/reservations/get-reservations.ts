import { Fault } from "@resource-broker/base";
import { decisionCall, isReserved, type ReservationOrWaiting } from "@resource-broker/client";
import type { DecisionDTO, ReservationDTO } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type { Host, Run, Values } from "../cli/command.ts";
import type { BROKER_OPTIONS, GET_RESERVATIONS_OPTIONS } from "../commands/broker-options.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import { decisionText } from "../decisions/print-decision.ts";
import { type Listing, printListing } from "../output/listing.ts";
import { properties, type Styler, stylerFor } from "../output/print.ts";
import { describeWaiting } from "../queue/describe-waiting.ts";
import { demandColumns } from "../queue/waiting.ts";
import { age, agoOf, costText, described } from "../output/text.ts";
import {
  expiryOf,
  listReservations,
  noticeEnd,
  PHASE_STYLES,
  readReservation,
  reservationColumns,
  reservationIdIn,
} from "./reservation.ts";

type Options = Values<typeof GET_RESERVATIONS_OPTIONS>;

export const getReservations: Run<typeof GET_RESERVATIONS_OPTIONS> = async ({ options, words }, host) => {
  const [word] = words;
  const id = word === undefined ? undefined : reservationIdIn(word);
  const shown = new Set<string>();
  return withBroker(options, host, async (broker) => {
    if (id !== undefined) return printListing(() => readOne(broker, id, host), options, host);
    const look = async () => {
      const { items: found, at } = await listReservations(broker);
      // A watch also shows the end of reservations that were listed before.
      const items = found.filter((item) => shown.has(item.id) || isWanted(item, options));
      for (const item of items) shown.add(item.id);
      return {
        items,
        dataOf: (item: ReservationDTO) => item,
        nameOf: (item: ReservationDTO) => item.id,
        fingerprintOf: (item: ReservationDTO) => JSON.stringify(item),
        columns: reservationColumns(at, stylerFor(host)),
        whenEmpty: whenEmpty(found, options),
      };
    };
    return printListing(look, options, host);
  });
};

/** One by its ID, whether it is reserved or still waits. */
async function readOne(broker: Broker, id: string, host: Host): Promise<Listing<ReservationOrWaiting>> {
  const { value, at } = await readReservation(broker, id);
  const styled = stylerFor(host);
  const one = {
    dataOf: (item: ReservationOrWaiting) => item,
    nameOf: (item: ReservationOrWaiting) => item.id,
    fingerprintOf: (item: ReservationOrWaiting) => JSON.stringify(item),
    items: [value],
  };
  if (!isReserved(value)) return { ...one, columns: demandColumns(at, styled) };
  const columns = reservationColumns(at, styled).map((column) => ({
    ...column,
    value: (item: ReservationOrWaiting) => (isReserved(item) ? column.value(item) : "-"),
  }));
  return { ...one, columns };
}

function isWanted(item: ReservationDTO, { requester, provider, phase, all }: Options): boolean {
  if (requester !== undefined && item.requesterID !== requester) return false;
  if (provider !== undefined && item.targetClusterID !== provider) return false;
  if (phase !== undefined) return item.status.phase === phase;
  return all || isLive(item.status.phase);
}

function whenEmpty(found: readonly ReservationDTO[], options: Options): string {
  const ended = found.filter(({ status }) => !isLive(status.phase)).length;
  if (found.length === 0) return "There is no reservation.";
  return ended === found.length && options.phase === undefined
    ? `Nothing is reserved now; --all shows what has ended (${ended}).`
    : "No reservation matches.";
}

export const describeReservation: Run<typeof BROKER_OPTIONS> = async ({ options, words }, host) => {
  const id = reservationIdIn(words[0]);
  const styled = stylerFor(host);
  return withBroker(options, host, async (broker) => {
    const { value: reservation, ...answer } = await readReservation(broker, id);
    if (!isReserved(reservation)) return describeWaiting(broker, { ...answer, value: reservation }, host);
    const { at } = answer;
    const decision = await decisionOf(broker, reservation);
    return {
      data: { reservation, ...(decision === undefined ? {} : { decision }) },
      table: (isWide) => {
        const why = decision === undefined ? "" : `\n${decisionText(decision, { styled, isWide })}`;
        return `${reservationText(reservation, at, styled)}${why}`;
      },
      names: [id],
    };
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

function reservationText(reservation: ReservationDTO, at: number, styled: Styler): string {
  const { preempting, ...booked } = reservation;
  const { status, cost, createdAt, requesterLiqoID, targetLiqoID } = reservation;
  const { phase, expiresAt } = status;
  const hasLiqo = requesterLiqoID !== undefined || targetLiqoID !== undefined;
  return properties([
    ["Name", reservation.id],
    ["Requester", reservation.requesterID],
    ["Provider", reservation.targetClusterID],
    ["Resources", described(reservation.requestedResources)],
    ["Phase", styled(phase, PHASE_STYLES[phase])],
    ["Reason", reservation.reason],
    ["Message", status.message],
    ["Made", `${agoOf(createdAt, at)} ago (${createdAt})`],
    ["Expires", expiresAt === undefined ? "when it is released" : `${expiryOf(booked, at)} (${expiresAt})`],
    ["Under notice", isLive(phase) && preempting ? noticeText(reservation, preempting, at) : undefined],
    ["Price", costText(cost)],
    ["Tier", reservation.tier],
    ["Tenant", reservation.tenant],
    ["Priority", reservation.priority === 0 ? undefined : reservation.priority?.toString()],
    ["Key", reservation.key],
    ["Provider's endpoint", reservation.targetClusterEndpoint],
    ["Liqo", hasLiqo ? `${requesterLiqoID ?? "?"} borrows from ${targetLiqoID ?? "?"}` : undefined],
    ["Decision", reservation.decisionID],
  ]);
}

/** `ends in 4m (2026-07-01T10:05:00.123Z): tokyo is drained`. */
function noticeText(
  reservation: ReservationDTO,
  { at: endsAt, byPriority }: NonNullable<ReservationDTO["preempting"]>,
  at: number,
): string {
  const cause =
    byPriority === undefined
      ? `${reservation.targetClusterID} is drained`
      : `a waiting request of priority ${byPriority} needs its capacity`;
  return `ends in ${age((noticeEnd(reservation) ?? at) - at)} (${endsAt}): ${cause}`;
}
