import { cordonCall, type TypedCall, uncordonCall } from "@resource-broker/client";
import type { CordonReplyDTO } from "@resource-broker/contract";
import type { Run, View } from "../cli/command.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import type { BROKER_OPTIONS, CORDON_OPTIONS } from "../commands/broker-options.ts";
import { properties } from "../output/print.ts";
import { withClusterHint } from "./cluster-view.ts";

export const cordon: Run<typeof CORDON_OPTIONS> = ({ options, words: [id = ""] }, host) =>
  withBroker(options, host, (broker) => set(broker, id, cordonCall(id, options.reason)));

export const uncordon: Run<typeof BROKER_OPTIONS> = ({ options, words: [id = ""] }, host) =>
  withBroker(options, host, (broker) => set(broker, id, uncordonCall(id)));

async function set(broker: Broker, id: string, call: TypedCall<CordonReplyDTO>): Promise<View> {
  const { value } = await withClusterHint(broker, id, broker.request(call));
  const { clusterID, cordoned, reason } = value;
  const table = (): string =>
    properties([
      ["Cluster", clusterID],
      ["Lends", cordoned ? "nothing new; existing reservations stay" : "again"],
      ["Reason", reason],
    ]);
  return { data: value, table, names: [clusterID] };
}
