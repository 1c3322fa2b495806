import type { AdvertisementDTO } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { type Labels, readLabels } from "../cli/read-labels.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import { type Styler, stylerFor } from "../output/colour.ts";
import { type Listing, printListing } from "../output/listing.ts";
import { clusterColumns, wideClusterColumns } from "./cluster-columns.ts";
import { type ClusterView, clusterViews, withheldText } from "./cluster-view.ts";
import type { GET_CLUSTERS_OPTIONS } from "./options.ts";
import { listClusters, readCluster } from "./read-clusters.ts";

export const getClusters: Run<typeof GET_CLUSTERS_OPTIONS> = async ({ options, words }, host) => {
  const labels = readLabels("selector", options.selector);
  const styled = stylerFor(host);
  await withBroker(options, host, async (broker) => {
    const look = (): Promise<Listing<ClusterView>> => readListing(broker, { id: words[0], labels, styled });
    await printListing(look, options, host);
  });
};

const UNKNOWN = "STATUS Unknown: this broker is too old to say.";

interface Wanted {
  /** One cluster; undefined: all of them. */
  readonly id: string | undefined;
  readonly labels: Labels;
  readonly styled: Styler;
}

async function readListing(broker: Broker, { id, labels, styled }: Wanted): Promise<Listing<ClusterView>> {
  const { items, at } = id === undefined ? await listClusters(broker) : await readCluster(broker, id);
  const wanted = items.filter((item) => hasLabels(item, labels));
  const views = clusterViews({ items: wanted, at });
  return {
    items: views,
    dataOf: ({ advertisement }) => advertisement,
    nameOf: ({ advertisement }) => advertisement.clusterID,
    fingerprintOf: ({ advertisement, status }) =>
      JSON.stringify([status, advertisement.resources, advertisement.cost, advertisement.labels]),
    ...remarkOn(views),
    columns: clusterColumns(styled),
    wideColumns: wideClusterColumns(styled),
    whenEmpty:
      items.length === 0
        ? "No cluster has advertised yet."
        : "No cluster has these labels; without -l there are some.",
  };
}

/** What the columns do not show. */
function remarkOn(clusters: readonly ClusterView[]): { readonly remark?: string } {
  const lines = [
    ...(clusters.some(({ status }) => status === "Unknown") ? [UNKNOWN] : []),
    ...clusters.flatMap(({ advertisement }) => {
      const withheld = withheldText(advertisement);
      return withheld === undefined ? [] : [`${advertisement.clusterID} withholds ${withheld}.`];
    }),
  ];
  return lines.length === 0 ? {} : { remark: lines.join("\n") };
}

function hasLabels({ labels = {} }: AdvertisementDTO, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
