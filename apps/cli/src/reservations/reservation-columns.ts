import { parseTime } from "@resource-broker/base";
import type { ReservationDTO } from "@resource-broker/contract";
import type { Phase } from "@resource-broker/domain";
import { age } from "../output/age.ts";
import { one } from "../output/amounts.ts";
import type { Styler, TextStyle } from "../output/colour.ts";
import { perHour } from "../output/price.ts";
import type { Column } from "../output/table.ts";

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
    { title: "AGE", value: ({ createdAt }) => age(now - (parseTime(createdAt) ?? now)) },
  ];
}

export function wideReservationColumns(now: number, styled: Styler): readonly Column<ReservationDTO>[] {
  return [
    ...reservationColumns(now, styled),
    { title: "STORAGE", value: ({ requestedResources }) => one("storage", requestedResources) },
    { title: "TIER", value: ({ tier }) => tier ?? "-" },
    { title: "REASON", value: ({ reason }) => reason ?? "-" },
    { title: "DECISION", value: ({ decisionID }) => decisionID ?? "-" },
    { title: "MESSAGE", value: ({ status }) => status.message },
  ];
}

/** `in 29m`, `never` (until it is released), or nothing once it has ended. */
export function expiryOf({ status: { phase, expiresAt } }: ReservationDTO, now: number): string {
  if (phase === "Released" || phase === "Failed") return "-";
  const at = expiresAt === undefined ? undefined : parseTime(expiresAt);
  return at === undefined ? "never" : `in ${age(at - now)}`;
}
