import type { UiCluster } from "@resource-broker/contract/dashboard";
import { memo } from "react";
import { CapacityBar } from "../charts/capacity-bar.tsx";
import { RESOURCE_TITLES, RESOURCES } from "../format/amounts.ts";
import { Chip } from "../parts/chips.tsx";
import { Link } from "../parts/link.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { hrefTo } from "../routing/route.ts";
import { clusterStates, priceText, secondName } from "./fleet-view.ts";

export const ClusterRow = memo(function ClusterRow({ cluster }: { readonly cluster: UiCluster }) {
  const name = secondName(cluster);
  return (
    <tr className={cluster.isStale ? "is-stale" : undefined}>
      <th scope="row" className="cell-main">
        <Link to={hrefTo("fleet", cluster.id)} className="row-link" title={cluster.id}>
          {cluster.id}
        </Link>
        {name !== null && (
          <span className="faint clip" title={name}>
            {name}
          </span>
        )}
      </th>
      <td data-label="State">
        <ClusterStates cluster={cluster} />
      </td>
      <td data-label="Region" className="cell-region clip" title={cluster.region}>
        {cluster.region === "" ? <None /> : cluster.region}
      </td>
      {RESOURCES.map((resource) => (
        <td key={resource} data-label={RESOURCE_TITLES[resource]} className="cell-bar">
          <CapacityBar capacity={cluster.capacity} resource={resource} />
        </td>
      ))}
      <td data-label="Price per hour" className="num cell-price">
        {priceText(cluster.price) ?? <span className="faint">not priced</span>}
      </td>
      <td data-label="Lends" className="num is-number">
        {cluster.lends}
      </td>
      <td data-label="Borrows" className="num is-number">
        {cluster.borrows}
      </td>
      <td data-label="Last seen" className="num">
        <TimeAgo at={cluster.heardAt} />
      </td>
    </tr>
  );
});

export function ClusterStates({ cluster }: { readonly cluster: Pick<UiCluster, "conditions"> }) {
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

function None() {
  return <span className="faint">–</span>;
}
