import { advertisementCall, cordonCall, type TypedCall, uncordonCall } from "@resource-broker/client";
import { type CordonReplyDTO, cordonRequestSchema } from "@resource-broker/contract";
import type { Run, View } from "../cli/command.ts";
import { checkReason } from "../cli/reason.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import type { BROKER_OPTIONS, CORDON_OPTIONS } from "../commands/broker-options.ts";
import { properties } from "../output/print.ts";
import { closedText, withClusterHint } from "./cluster-view.ts";

export const cordon: Run<typeof CORDON_OPTIONS> = async ({ options, words: [id = ""] }, host) => {
  checkReason(options.reason, cordonRequestSchema);
  return withBroker(options, host, (broker) => set(broker, id, cordonCall(id, options.reason)));
};

export const uncordon: Run<typeof BROKER_OPTIONS> = ({ options, words: [id = ""] }, host) =>
  withBroker(options, host, (broker) => set(broker, id, uncordonCall(id)));

async function set(broker: Broker, id: string, call: TypedCall<CordonReplyDTO>): Promise<View> {
  const { value } = await withClusterHint(broker, id, broker.request(call));
  const { clusterID, cordoned, reason } = value;
  const lends = cordoned ? "nothing new; existing reservations stay" : await openText(broker, id);
  const table = (): string =>
    properties([
      ["Cluster", clusterID],
      ["Lends", lends],
      ["Reason", reason],
    ]);
  return { data: value, table, names: [clusterID] };
}

/** An evicted cluster lends nothing, cordoned or not. */
async function openText({ request }: Broker, id: string): Promise<string> {
  // It need not have advertised: what was asked for is done in any case.
  const standing = await request(advertisementCall(id)).then(
    ({ value }) => value.standing,
    () => undefined,
  );
  const closed = closedText(standing);
  return closed === undefined
    ? "again"
    : `nothing new. ${closed} To let it join again: brokerctl invite ${id}`;
}
