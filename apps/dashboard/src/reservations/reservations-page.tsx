import type { UiReservations } from "@resource-broker/contract/dashboard";
import { patchRows, type RefreshPolicy } from "../live/live-answer.ts";
import { FilterChip, RadioGroup, SearchBox } from "../parts/controls.tsx";
import { Link } from "../parts/link.tsx";
import { Page } from "../parts/page.tsx";
import { SortSelect } from "../parts/sort-select.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { type Column, Pager, Table } from "../parts/table.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery } from "../shell/use-query.ts";
import { ReservationRow } from "./reservation-row.tsx";
import {
  isFiltered,
  PAGE_SIZE,
  PHASE_FILTERS,
  type ReservationsQuery,
  readReservationsQuery,
  reservationsPath,
} from "./reservations-query.ts";

const REFRESH: RefreshPolicy<UiReservations> = {
  isAffectedBy: ({ reservations }) => reservations.length > 0,
  patch: (page, { reservations }) => patchRows(page, reservations),
};

const COLUMNS: readonly Column[] = [
  { title: "Reservation", sort: "id" },
  { title: "Phase", sort: "phase" },
  { title: "Requester → provider", sort: "requester" },
  { title: "CPU", sort: "cpu", isNumber: true },
  { title: "Memory", sort: "memory", isNumber: true },
  { title: "GPU", sort: "gpu", isNumber: true },
  { title: "Cost per hour", sort: "cost", isNumber: true },
  { title: "Created", sort: "created" },
  { title: "Ends in", sort: "expires" },
];

const PARTIES = [
  { name: "requester", title: "Requester" },
  { name: "provider", title: "Provider" },
  { name: "cluster", title: "Cluster" },
] as const;

export function ReservationsPage() {
  const { query, change } = useQuery();
  const wanted = readReservationsQuery(query);
  const answer = useAnswer<UiReservations>(reservationsPath(wanted), REFRESH);
  return (
    <Page title="Reservations" lead="Who holds what, where, and until when.">
      <div className="toolbar">
        <SearchBox
          label="Find by ID or cluster"
          value={wanted.q}
          onSearch={(q) => change({ q, offset: null }, { replace: true })}
        />
        <RadioGroup
          label="Phase"
          value={wanted.phase}
          options={PHASE_FILTERS}
          onChoose={(phase) => change({ phase: phase === "all" ? null : phase, offset: null })}
        />
        <SortSelect
          columns={COLUMNS}
          sorting={wanted}
          onSort={({ sort, order }) => change({ sort, order, offset: null })}
        />
        {PARTIES.filter(({ name }) => wanted[name] !== "").map(({ name, title }) => (
          <FilterChip
            key={name}
            label={title}
            value={wanted[name]}
            onClear={() => change({ [name]: null, offset: null })}
          />
        ))}
      </div>
      <AnswerView answer={answer} rows={12}>
        {(page) => <Reservations page={page} wanted={wanted} onChange={change} />}
      </AnswerView>
    </Page>
  );
}

interface ReservationsProps {
  readonly page: UiReservations;
  readonly wanted: ReservationsQuery;
  readonly onChange: ReturnType<typeof useQuery>["change"];
}

function Reservations({ page, wanted, onChange }: ReservationsProps) {
  if (page.total === 0) {
    return isFiltered(wanted) ? (
      <Empty title="No reservation matches" icon="search">
        Try fewer letters, or another phase.
      </Empty>
    ) : (
      <Empty title="Nothing is reserved">
        Create a ResourceRequest in a cluster that is short, or see first{" "}
        <Link to="/what-if">what would happen</Link>.
      </Empty>
    );
  }
  return (
    <>
      <Table
        caption="Reservations"
        className="is-reservations"
        columns={COLUMNS}
        sorting={wanted}
        onSort={({ sort, order }) => onChange({ sort, order, offset: null })}
      >
        {page.rows.map((reservation) => (
          <ReservationRow key={reservation.id} reservation={reservation} />
        ))}
      </Table>
      <Pager
        offset={page.offset}
        shown={page.rows.length}
        total={page.total}
        limit={PAGE_SIZE}
        onMove={(offset) => onChange({ offset: offset === 0 ? null : offset })}
      />
    </>
  );
}
