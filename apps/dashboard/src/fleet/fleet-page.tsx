import { resourceTitle } from "@resource-broker/base";
import {
  type AdvertisementDTO,
  type AdvertisementPageDTO,
  CLUSTER_SORTS,
  CLUSTER_STATES,
  PATH,
} from "@resource-broker/contract";
import { memo } from "react";
import { CapacityBar, CapacityLegend, capacityOf } from "../charts/capacity-bar.tsx";
import { MAIN_NAMES, namesIn, plainNumber } from "../format/amounts.ts";
import { moneyText } from "../format/money.ts";
import { patchItems, type RefreshPolicy } from "../live/live-answer.ts";
import { Chip } from "../parts/chips.tsx";
import { Link } from "../parts/link.tsx";
import { ListPage, type ListSpec } from "../parts/list.tsx";
import { Total } from "../parts/page.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { Empty } from "../parts/states.tsx";
import { type Column, None } from "../parts/table.tsx";
import { hrefTo } from "../shell/navigation.ts";
import "./fleet.css";
import { clusterStates, priceText, readyText, regionOf, secondName, standingOf } from "./fleet-view.ts";

export const FLEET: ListSpec = {
  path: PATH.advertisements,
  searchLabel: "Find by ID, region or label",
  filter: {
    name: "state",
    title: "State",
    options: ["all", ...CLUSTER_STATES].map((name) => ({
      name,
      title: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
    })),
  },
  sorts: CLUSTER_SORTS,
};

/** Clusters say something every few seconds: rows change in place at once, order and totals a little later. */
const REFRESH: RefreshPolicy<AdvertisementPageDTO> = {
  isAffectedBy: ({ clusters, reservations }) => clusters.length > 0 || reservations.length > 0,
  patch: (fleet, { clusters }) => patchItems(fleet, clusters, ({ clusterID }) => clusterID),
  minIntervalMs: 5000,
};

const COLUMNS: readonly Column<AdvertisementDTO>[] = [
  { title: "Cluster", sort: "id", className: "cell-main", cell: (cluster) => <Name cluster={cluster} /> },
  { title: "State", cell: (cluster) => <ClusterStates cluster={cluster} /> },
  {
    title: "Region",
    sort: "region",
    className: "cell-region clip",
    cell: (cluster) => {
      const region = regionOf(cluster);
      return region === "" ? <None /> : <span title={region}>{region}</span>;
    },
  },
  ...MAIN_NAMES.map((name) => ({
    title: resourceTitle(name),
    sort: name,
    className: "cell-bar",
    cell: ({ resources }: AdvertisementDTO) => (
      <CapacityBar capacity={capacityOf(resources)} resource={name} />
    ),
  })),
  {
    title: "Price per hour",
    sort: "price",
    className: "num cell-price",
    cell: (cluster) => priceText(standingOf(cluster).price) ?? <None>not priced</None>,
  },
  { title: "Lends", sort: "lends", isNumber: true, cell: (cluster) => standingOf(cluster).lends },
  { title: "Borrows", sort: "borrows", isNumber: true, cell: (cluster) => standingOf(cluster).borrows },
  {
    title: "Last seen",
    sort: "heard",
    className: "num",
    cell: (cluster) => <TimeAgo at={standingOf(cluster).receivedAt} />,
  },
];

export function FleetPage() {
  return (
    <ListPage<AdvertisementDTO, AdvertisementPageDTO>
      spec={FLEET}
      refresh={REFRESH}
      title="Fleet"
      lead="Capacity, reserved and available resources of every cluster."
      caption="Clusters"
      columns={COLUMNS}
      keyOf={({ clusterID }) => clusterID}
      rowClass={(cluster) => (standingOf(cluster).isStale ? "is-stale" : undefined)}
      className="is-fleet"
      legend={<CapacityLegend />}
      above={({ totals, total = 0 }, isFiltered) =>
        totals !== undefined && <Totals {...{ totals, isFiltered }} clusters={total} />
      }
      empty={
        <Empty title="No cluster has advertised yet">
          A cluster appears here after its agent's first advertisement.
        </Empty>
      }
      noMatch={
        <Empty title="No cluster matches" icon="search">
          Try fewer letters, or another state.
        </Empty>
      }
    />
  );
}

function Name({ cluster }: { readonly cluster: AdvertisementDTO }) {
  const { clusterID: id } = cluster;
  const name = secondName(cluster);
  return (
    <>
      <Link to={hrefTo("fleet", id)} className="row-link" title={id}>
        {id}
      </Link>
      {name !== null && (
        <span className="faint clip" title={name}>
          {name}
        </span>
      )}
    </>
  );
}

export function ClusterStates({ cluster }: { readonly cluster: AdvertisementDTO }) {
  return (
    <span className="chips">
      {clusterStates(cluster).map(({ text, ...state }) => (
        <Chip key={text} {...state}>
          {text}
        </Chip>
      ))}
    </span>
  );
}

interface TotalsProps {
  readonly totals: NonNullable<AdvertisementPageDTO["totals"]>;
  readonly clusters: number;
  /** They are of the clusters that match. */
  readonly isFiltered: boolean;
}

const Totals = memo(function Totals({ totals, clusters, isFiltered }: TotalsProps) {
  const title = isFiltered ? "Clusters found" : "Clusters";
  const spend = `${moneyText(totals.perHour, totals.currency)} per hour`;
  return (
    <section className="totals" aria-label="Totals">
      <Total title={title} value={plainNumber(clusters)} note={readyText(totals, clusters)} />
      {namesIn(totals.allocatable).map((name) => (
        <div key={name} className="figure is-wide">
          <span className="figure-title">{resourceTitle(name)}</span>
          <CapacityBar capacity={totals} resource={name} size="large" />
        </div>
      ))}
      <Total title="Live reservations" value={plainNumber(totals.live)} note={spend} />
    </section>
  );
});
