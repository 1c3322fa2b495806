import type { UiFleet } from "@resource-broker/contract/dashboard";
import { memo } from "react";
import { CapacityBar, CapacityLegend } from "../charts/capacity-bar.tsx";
import { RESOURCE_TITLES, RESOURCES } from "../format/amounts.ts";
import { patchRows, type RefreshPolicy } from "../live/live-answer.ts";
import { RadioGroup, SearchBox } from "../parts/controls.tsx";
import { Page } from "../parts/page.tsx";
import { SortSelect } from "../parts/sort-select.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { type Column, Pager, Table } from "../parts/table.tsx";
import { Total } from "../parts/total.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery } from "../shell/use-query.ts";
import { ClusterRow } from "./cluster-row.tsx";
import "./fleet.css";
import { type FleetQuery, fleetPath, isFiltered, PAGE_SIZE, readFleetQuery } from "./fleet-query.ts";
import { fleetTotals } from "./fleet-view.ts";

/** Clusters say something every few seconds: rows change in place at once, order and totals a little later. */
const REFRESH: RefreshPolicy<UiFleet> = {
  isAffectedBy: ({ clusters, reservations }) => clusters.length > 0 || reservations.length > 0,
  patch: (fleet, { clusters }) => patchRows(fleet, clusters),
  minIntervalMs: 5000,
};

const COLUMNS: readonly Column[] = [
  { title: "Cluster", sort: "id" },
  { title: "State" },
  { title: "Region", sort: "region" },
  { title: "CPU", sort: "cpu" },
  { title: "Memory", sort: "memory" },
  { title: "GPU", sort: "gpu" },
  { title: "Price per hour", sort: "price" },
  { title: "Lends", sort: "lends", isNumber: true },
  { title: "Borrows", sort: "borrows", isNumber: true },
  { title: "Last seen", sort: "heard" },
];

const STATES = [
  { name: "all", title: "All" },
  { name: "ready", title: "Ready" },
  { name: "stale", title: "Stale" },
  { name: "cordoned", title: "Cordoned" },
  { name: "overcommitted", title: "Overcommitted" },
] as const;

export function FleetPage() {
  const { query, change } = useQuery();
  const wanted = readFleetQuery(query);
  const answer = useAnswer<UiFleet>(fleetPath(wanted), REFRESH);
  return (
    <Page title="Fleet" lead="Capacity, reserved and available resources of every cluster.">
      <AnswerView answer={answer} rows={12}>
        {(fleet) =>
          fleet.total === 0 && !isFiltered(wanted) ? (
            <Empty title="No cluster has advertised yet">
              A cluster appears here after its agent's first advertisement.
            </Empty>
          ) : (
            <>
              <Totals totals={fleet.totals} isFiltered={isFiltered(wanted)} />
              <div className="toolbar">
                <SearchBox
                  label="Find by ID, region or label"
                  value={wanted.q}
                  onSearch={(q) => change({ q, offset: null }, { replace: true })}
                />
                <RadioGroup
                  label="State"
                  value={wanted.state}
                  options={STATES}
                  onChoose={(state) => change({ state: state === "all" ? null : state, offset: null })}
                />
                <SortSelect
                  columns={COLUMNS}
                  sorting={wanted}
                  onSort={({ sort, order }) => change({ sort, order, offset: null })}
                />
                <CapacityLegend />
              </div>
              <Clusters fleet={fleet} wanted={wanted} onChange={change} />
            </>
          )
        }
      </AnswerView>
    </Page>
  );
}

interface ClustersProps {
  readonly fleet: UiFleet;
  readonly wanted: FleetQuery;
  readonly onChange: ReturnType<typeof useQuery>["change"];
}

function Clusters({ fleet, wanted, onChange }: ClustersProps) {
  if (fleet.total === 0) {
    return (
      <Empty title="No cluster matches" icon="search">
        Try fewer letters, or another state.
      </Empty>
    );
  }
  return (
    <>
      <Table
        caption="Clusters"
        className="is-fleet"
        columns={COLUMNS}
        sorting={wanted}
        onSort={({ sort, order }) => onChange({ sort, order, offset: null })}
      >
        {fleet.rows.map((cluster) => (
          <ClusterRow key={cluster.id} cluster={cluster} />
        ))}
      </Table>
      <Pager
        offset={fleet.offset}
        shown={fleet.rows.length}
        total={fleet.total}
        limit={PAGE_SIZE}
        onMove={(offset) => onChange({ offset: offset === 0 ? null : offset })}
      />
    </>
  );
}

interface TotalsProps {
  readonly totals: UiFleet["totals"];
  /** They are of the clusters that match. */
  readonly isFiltered: boolean;
}

const Totals = memo(function Totals(props: TotalsProps) {
  const { totals } = props;
  const view = fleetTotals(totals);
  return (
    <section className="totals" aria-label="Totals">
      <Total
        title={props.isFiltered ? "Clusters found" : "Clusters"}
        value={view.clusters}
        note={view.clustersNote}
      />
      {RESOURCES.map((resource) => (
        <div key={resource} className="figure is-wide">
          <span className="figure-title">{RESOURCE_TITLES[resource]}</span>
          <CapacityBar capacity={totals.capacity} resource={resource} size="large" />
        </div>
      ))}
      <Total title="Live reservations" value={view.live} note={`${view.spend} per hour`} />
    </section>
  );
});
