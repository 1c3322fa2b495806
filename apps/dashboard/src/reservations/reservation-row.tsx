import type { UiReservation } from "@resource-broker/contract/dashboard";
import { memo } from "react";
import { amountText } from "../format/amounts.ts";
import { Chip } from "../parts/chips.tsx";
import { Icon } from "../parts/icons.tsx";
import { ClusterLink, Link } from "../parts/link.tsx";
import { TimeAgo, TimeLeft } from "../parts/relative-time.tsx";
import { hrefTo } from "../routing/route.ts";
import "./reservations.css";
import { costText, isLive, phaseStyle, reasonText } from "./reservation-view.ts";

export const ReservationRow = memo(function ReservationRow({
  reservation,
}: {
  readonly reservation: UiReservation;
}) {
  const { id, requester, provider, amounts } = reservation;
  return (
    <tr className={isLive(reservation) ? undefined : "is-over"}>
      <th scope="row" className="cell-main">
        <Link to={hrefTo("reservations", id)} className="row-link mono" title={id}>
          {id}
        </Link>
      </th>
      <td data-label="Phase">
        <Phase reservation={reservation} />
      </td>
      <td data-label="Requester → provider" className="cell-parties">
        <ClusterLink id={requester} />
        <Icon name="arrow" size={12} />
        {provider === "" ? <span className="faint">none</span> : <ClusterLink id={provider} />}
      </td>
      <td data-label="CPU" className="num is-number">
        {amountText("cpu", amounts.cpu)}
      </td>
      <td data-label="Memory" className="num is-number">
        {amountText("memory", amounts.memory)}
      </td>
      <td data-label="GPU" className="num is-number">
        {amounts.gpu === 0 ? <span className="faint">–</span> : amountText("gpu", amounts.gpu)}
      </td>
      <td data-label="Cost per hour" className="num is-number">
        {costText(reservation) ?? <span className="faint">not priced</span>}
      </td>
      <td data-label="Created" className="num">
        <TimeAgo at={reservation.createdAt} />
      </td>
      <td data-label="Ends in" className="num">
        <End reservation={reservation} />
      </td>
    </tr>
  );
});

export function Phase({ reservation }: { readonly reservation: Pick<UiReservation, "phase" | "reason"> }) {
  const reason = reasonText(reservation.reason);
  return (
    <Chip {...phaseStyle(reservation.phase)} {...(reason === "" ? {} : { title: reason })}>
      {reservation.phase}
    </Chip>
  );
}

function End({ reservation }: { readonly reservation: UiReservation }) {
  const { endedAt, expiresAt, reason } = reservation;
  if (endedAt !== null) return <span className="faint">{reasonText(reason) || "ended"}</span>;
  return expiresAt === null ? <span className="faint">until released</span> : <TimeLeft until={expiresAt} />;
}
