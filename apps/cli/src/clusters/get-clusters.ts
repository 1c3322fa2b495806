import type { AdvertisementDTO } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import { type Paint, paintFor } from "../output/colour.ts";
import { type Listing, printListing } from "../output/listing.ts";
import { type Labels, readLabels } from "../cli/read-labels.ts";
import { clusterColumns, wideClusterColumns } from "./cluster-columns.ts";
import type { GET_CLUSTERS_OPTIONS } from "./options.ts";
import { listClusters, readCluster } from "./read-clusters.ts";
import { type StandingCluster, standingOf, withheldText } from "./standing.ts";

export const getClusters: Run<typeof GET_CLUSTERS_OPTIONS> = async ({ options, words }, host) => {
  const labels = readLabels("selector", options.selector);
  const paint = paintFor(host);
  await withBroker(options, host, async (broker) => {
    const look = (): Promise<Listing<StandingCluster>> =>
      readListing(broker, { id: words[0], labels, paint });
    await printListing(look, options, host);
  });
};

const UNKNOWN = "STATUS Unknown: this broker is too old to say.";

interface Wanted {
  /** One cluster; undefined: all of them. */
  readonly id: string | undefined;
  readonly labels: Labels;
  readonly paint: Paint;
}

async function readListing(broker: Broker, { id, labels, paint }: Wanted): Promise<Listing<StandingCluster>> {
  const { items, at } = id === undefined ? await listClusters(broker) : await readCluster(broker, id);
  const wanted = items.filter((item) => hasLabels(item, labels));
  const standing = standingOf({ items: wanted, at });
  return {
    items: standing,
    dataOf: ({ advertisement }) => advertisement,
    nameOf: ({ advertisement }) => advertisement.clusterID,
    faceOf: ({ advertisement, status }) =>
      JSON.stringify([status, advertisement.resources, advertisement.cost, advertisement.labels]),
    ...remarkOn(standing),
    columns: clusterColumns(paint),
    wideColumns: wideClusterColumns(paint),
    whenEmpty:
      items.length === 0
        ? "No cluster has advertised yet."
        : "No cluster has these labels; without -l there are some.",
  };
}

/** What the columns do not tell. */
function remarkOn(clusters: readonly StandingCluster[]): { readonly remark?: string } {
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
