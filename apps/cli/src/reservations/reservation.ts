import { parseTime } from "@resource-broker/base";
import {
  queuePages,
  reservationCall,
  type ReservationOrWaiting,
  reservationPages,
} from "@resource-broker/client";
import type { ReservationDTO } from "@resource-broker/contract";
import type { Phase } from "@resource-broker/domain";
import type { Host, View } from "../cli/command.ts";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import { type Answer, type Broker, type Listed, listAll, orUnknown } from "../connection/broker.ts";
import { type Column, type Styler, stylerFor, table, type TextStyle, wide } from "../output/print.ts";
import { age, agoOf, one, perHour, wideAmounts } from "../output/text.ts";

export const PHASE_STYLES: Readonly<Record<Phase, TextStyle>> = {
  Pending: "careful",
  Reserved: "careful",
  Active: "good",
  Released: "quiet",
  Failed: "bad",
};

/** `now` is the broker's. */
export function reservationColumns(now: number, styled: Styler): readonly Column<ReservationDTO>[] {
  return [
    { title: "NAME", value: ({ id }) => id },
    { title: "REQUESTER", value: ({ requesterID }) => requesterID },
    { title: "PROVIDER", value: ({ targetClusterID }) => targetClusterID },
    { title: "CPU", value: ({ requestedResources }) => one("cpu", requestedResources) },
    { title: "MEMORY", value: ({ requestedResources }) => one("memory", requestedResources) },
    { title: "GPU", value: ({ requestedResources }) => one("gpu", requestedResources) },
    { title: "PRICE", value: ({ cost }) => perHour(cost?.perHour, cost?.currency) },
    { title: "PHASE", value: ({ status: { phase } }) => styled(phase, PHASE_STYLES[phase]) },
    { title: "EXPIRES", value: (item) => expiryOf(item, now) },
    { title: "AGE", value: ({ createdAt }) => agoOf(createdAt, now) },
    ...wide<ReservationDTO>(
      ...wideAmounts<ReservationDTO>(({ requestedResources }, name) => one(name, requestedResources)),
      { title: "TIER", value: ({ tier }) => tier ?? "-" },
      { title: "REASON", value: ({ reason }) => reason ?? "-" },
      { title: "DECISION", value: ({ decisionID }) => decisionID ?? "-" },
      { title: "MESSAGE", value: ({ status }) => status.message },
    ),
  ];
}

/** `in 29m`, `in 4m (notice)`, `never` (until it is released), or nothing once it has ended. */
export function expiryOf(item: ReservationDTO, now: number): string {
  const { phase, expiresAt } = item.status;
  if (phase === "Released" || phase === "Failed") return "-";
  const expires = expiresAt === undefined ? undefined : parseTime(expiresAt);
  const notice = noticeEnd(item);
  const isNotice = notice !== undefined && (expires === undefined || notice < expires);
  if (isNotice) return `in ${age(notice - now)} (notice)`;
  return expires === undefined ? "never" : `in ${age(expires - now)}`;
}

/** When the notice of a reservation ends; undefined: it is not under notice. */
export function noticeEnd({ preempting }: ReservationDTO): number | undefined {
  return preempting && parseTime(preempting.at);
}

/** What a command has made of a reservation: one line, as in the list. */
export function reservationView({ value, at }: Answer<ReservationDTO>, host: Host): View {
  return {
    data: value,
    table: (isWide) => table(reservationColumns(at, stylerFor(host)), [value], isWide),
    names: [value.id],
  };
}

/** `reservation/<id>` or just the id. */
export function reservationIdIn(word = ""): string {
  const [, kind, id] = /^([a-z]+)\/(.+)$/u.exec(word) ?? [];
  if (kind === undefined || id === undefined) return word;
  if (["reservation", "reservations", "rsv"].includes(kind)) return id;
  throw new CommandError("usage", `${JSON.stringify(word)} is no reservation; write reservation/<id>`);
}

/** An admin's: all of them; a cluster's: those it is party to. */
export function listReservations(broker: Broker): Promise<Listed<ReservationDTO>> {
  return listAll(broker, reservationPages());
}

/** What the broker has under an ID: a reservation, or a request that waits or has left the queue. */
export function readReservation(broker: Broker, id: string): Promise<Answer<ReservationOrWaiting>> {
  return withHint(broker, id, broker.request(reservationCall(id)));
}

/** A reservation that is not there may be one that was misspelt. */
export function withHint<T>(broker: Broker, id: string, work: Promise<T>): Promise<T> {
  return orUnknown(work, async (cause) => {
    const { items } = await listReservations(broker).catch(() => ({ items: [] }));
    const waiting = await listAll(broker, queuePages()).catch(() => ({ items: [] }));
    const { name, isAdmin } = broker.credentials;
    const whose = isAdmin ? "here" : `that ${name} is party to`;
    const ids = [...items, ...waiting.items].map((item) => item.id);
    const elsewhere = ". Ended ones are kept for a day; brokerctl get reservations --all lists them";
    const message = `there is no reservation ${JSON.stringify(id)} ${whose}${didYouMean(id, ids) || elsewhere}`;
    return new CommandError("error", message, { cause });
  });
}
