import { resourceTitle } from "@resource-broker/base";
import { PATH, RESERVATION_SORTS, type ReservationDTO } from "@resource-broker/contract";
import { amountsOf, amountText, MAIN_NAMES } from "../format/amounts.ts";
import { patchItems, type RefreshPolicy } from "../live/live-answer.ts";
import type { Page as ListData } from "../net/api-client.ts";
import { Chip } from "../parts/chips.tsx";
import { ClusterPair, Link } from "../parts/link.tsx";
import { ListPage, type ListSpec } from "../parts/list.tsx";
import { TimeAgo, TimeLeft } from "../parts/relative-time.tsx";
import { Empty } from "../parts/states.tsx";
import { type Column, None } from "../parts/table.tsx";
import { hrefTo } from "../shell/navigation.ts";
import { NoticeTime, PreemptingChip } from "./preempting.tsx";
import { costText, isLive, PHASES, reasonText } from "./reservation-view.ts";
import "./reservations.css";

export const RESERVATIONS: ListSpec = {
  path: PATH.reservations,
  searchLabel: "Find by ID or cluster",
  filter: {
    name: "phase",
    title: "Phase",
    options: [
      { name: "all", title: "All" },
      // Reserved and Active.
      { name: "live", title: "Live" },
      { name: "preempting", title: "Preempting" },
      ...Object.keys(PHASES).map((name) => ({ name, title: name })),
    ],
  },
  links: [
    { name: "requester", title: "Requester" },
    { name: "provider", title: "Provider" },
    { name: "cluster", title: "Cluster" },
  ],
  sorts: RESERVATION_SORTS,
  fallingSort: "created",
};

const REFRESH: RefreshPolicy<ListData<ReservationDTO>> = {
  isAffectedBy: ({ reservations }) => reservations.length > 0,
  patch: (page, { reservations }) => patchItems(page, reservations, ({ id }) => id),
};

const COLUMNS: readonly Column<ReservationDTO>[] = [
  {
    title: "Reservation",
    sort: "id",
    className: "cell-main",
    cell: ({ id }) => (
      <Link to={hrefTo("reservations", id)} className="row-link mono" title={id}>
        {id}
      </Link>
    ),
  },
  { title: "Phase", sort: "phase", cell: (reservation) => <Phase reservation={reservation} /> },
  {
    title: "Requester → provider",
    sort: "requester",
    className: "cell-parties",
    cell: ({ requesterID, targetClusterID }) => <ClusterPair from={requesterID} to={targetClusterID} />,
  },
  ...MAIN_NAMES.map((name) => ({
    title: resourceTitle(name),
    sort: name,
    isNumber: true,
    cell: ({ requestedResources }: ReservationDTO) => {
      const { [name]: amount } = amountsOf(requestedResources);
      return amount === 0 ? <None /> : amountText(name, amount);
    },
  })),
  {
    title: "Cost per hour",
    sort: "cost",
    isNumber: true,
    cell: (reservation) => costText(reservation) ?? <None>not priced</None>,
  },
  {
    title: "Created",
    sort: "created",
    className: "num",
    cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
  },
  { title: "Ends in", sort: "expires", className: "num", cell: end },
];

export function ReservationsPage() {
  return (
    <ListPage<ReservationDTO, ListData<ReservationDTO>>
      spec={RESERVATIONS}
      refresh={REFRESH}
      title="Reservations"
      lead="Who holds what, where, and until when."
      caption="Reservations"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      rowClass={(reservation) => (isLive(reservation) ? undefined : "is-over")}
      className="is-reservations"
      empty={
        <Empty title="Nothing is reserved">
          Create a ResourceRequest in a cluster that is short, or see first{" "}
          <Link to="/what-if">what would happen</Link>.
        </Empty>
      }
      noMatch={
        <Empty title="No reservation matches" icon="search">
          Try fewer letters, or another phase.
        </Empty>
      }
    />
  );
}

export function Phase({ reservation }: { readonly reservation: ReservationDTO }) {
  const { reason, status, preempting } = reservation;
  const title = reasonText(reason);
  return (
    <span className="chips">
      <Chip {...PHASES[status.phase]} {...(title === "" ? {} : { title })}>
        {status.phase}
      </Chip>
      {preempting !== undefined && <PreemptingChip />}
    </span>
  );
}

function end({ endedAt, status: { expiresAt }, reason, preempting }: ReservationDTO) {
  if (preempting !== undefined) return <NoticeTime notice={preempting} />;
  if (endedAt !== undefined) return <None>{reasonText(reason) || "ended"}</None>;
  return expiresAt === undefined ? <None>until released</None> : <TimeLeft until={expiresAt} />;
}
