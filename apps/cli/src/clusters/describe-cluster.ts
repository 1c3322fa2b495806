import { isLive } from "@resource-broker/domain";
import type { Run } from "../cli/command.ts";
import { withBroker } from "../connection/broker.ts";
import { stylerFor } from "../output/colour.ts";
import { print } from "../output/print.ts";
import { listReservations } from "../reservations/read-reservations.ts";
import { type ClusterReport, clusterText } from "./cluster-text.ts";
import { clusterViews } from "./cluster-view.ts";
import type { DESCRIBE_CLUSTER_OPTIONS } from "./options.ts";
import { readCluster } from "./read-clusters.ts";

export const describeCluster: Run<typeof DESCRIBE_CLUSTER_OPTIONS> = async ({ options, words }, host) => {
  const [id = ""] = words;
  const styled = stylerFor(host);
  await withBroker(options, host, async (broker) => {
    const found = await readCluster(broker, id);
    const reservations = await listReservations(broker);
    const live = reservations.items.filter(({ status }) => isLive(status.phase));
    for (const { advertisement, status, why, ageMs } of clusterViews(found)) {
      const report: ClusterReport = {
        advertisement,
        status,
        lends: live.filter(({ targetClusterID }) => targetClusterID === id),
        borrows: live.filter(({ requesterID }) => requesterID === id),
      };
      const table = (): string => clusterText(report, { why, ageMs, at: found.at, styled });
      print({ data: report, table, names: () => [id] }, options.output, host);
    }
  });
};
