import { PATH, type ReservationDTO } from "@resource-broker/contract";
import { amountsOf, amountsText, count } from "../format/amounts.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import type { Page as ListData } from "../net/api-client.ts";
import { Chip } from "../parts/chips.tsx";
import { ClusterPair, Link } from "../parts/link.tsx";
import { Card } from "../parts/page.tsx";
import { Countdown } from "../parts/relative-time.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { hrefTo, withQuery } from "../shell/navigation.ts";

type Notice = NonNullable<ReservationDTO["preempting"]>;

export function PreemptingChip() {
  return (
    <Chip tone="warn" icon="clock" title="It is under notice: it ends soon">
      Preempting
    </Chip>
  );
}

/** "4 min 12 s, for priority 50", or "…, provider drained". */
export function NoticeTime({ notice: { at, byPriority } }: { readonly notice: Notice }) {
  return (
    <span className="notice-time">
      <Countdown until={at} />
      <span className="faint">
        {byPriority === undefined ? ", provider drained" : `, for priority ${byPriority}`}
      </span>
    </span>
  );
}

const COLUMNS: readonly Column<ReservationDTO>[] = [
  {
    title: "Reservation",
    className: "cell-main",
    cell: ({ id }) => (
      <Link to={hrefTo("reservations", id)} className="row-link mono" title={id}>
        {id}
      </Link>
    ),
  },
  {
    title: "Requester → provider",
    className: "cell-parties",
    cell: ({ requesterID, targetClusterID }) => <ClusterPair from={requesterID} to={targetClusterID} />,
  },
  {
    title: "Gives back",
    className: "num",
    cell: ({ requestedResources }) => amountsText(amountsOf(requestedResources)),
  },
  {
    title: "Ends in",
    className: "num",
    cell: ({ preempting }) => preempting !== undefined && <NoticeTime notice={preempting} />,
  },
];

const REFRESH: RefreshPolicy<ListData<ReservationDTO>> = {
  isAffectedBy: ({ reservations }) => reservations.length > 0,
};
/** A provider has few of them; the list of reservations has the rest. */
const SHOWN = 20;

/** The reservations of a cluster that are under notice; nothing where there are none. */
export function PreemptingAt({ cluster }: { readonly cluster: string }) {
  const filter = { cluster, phase: "preempting" };
  const path = withQuery(PATH.reservations, { ...filter, sort: "created", limit: SHOWN });
  const { data } = useAnswer<ListData<ReservationDTO>>(path, REFRESH);
  if (data === undefined || data.total === 0) return null;
  return (
    <Card
      title="Preempting"
      note={
        <Link to={withQuery("/reservations", filter)}>{count(data.total, "reservation")} under notice</Link>
      }
    >
      <Table
        caption="Reservations under notice"
        columns={COLUMNS}
        rows={data.items}
        keyOf={({ id }) => id}
        className="is-preempting"
      />
    </Card>
  );
}
