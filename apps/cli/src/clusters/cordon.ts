import { cordonCall, type TypedCall, uncordonCall } from "@resource-broker/client";
import type { CordonReplyDTO } from "@resource-broker/contract";
import type { Host, Run, View } from "../cli/command.ts";
import { withBroker } from "../connection/broker.ts";
import type { ConnectionOptions } from "../connection/find-broker.ts";
import type { BROKER_OPTIONS } from "../commands/broker-options.ts";
import { properties } from "../output/print.ts";
import { withClusterHint } from "./cluster-view.ts";
import type { CORDON_OPTIONS } from "../commands/broker-options.ts";

export const cordon: Run<typeof CORDON_OPTIONS> = ({ options, words: [id = ""] }, host) =>
  set(id, cordonCall(id, options.reason), { options, host });

export const uncordon: Run<typeof BROKER_OPTIONS> = ({ options, words: [id = ""] }, host) =>
  set(id, uncordonCall(id), { options, host });

interface CordonContext {
  readonly options: ConnectionOptions;
  readonly host: Host;
}

function set(id: string, call: TypedCall<CordonReplyDTO>, { options, host }: CordonContext): Promise<View> {
  return withBroker(options, host, async (broker) => {
    const { value } = await withClusterHint(broker, id, broker.request(call));
    const { clusterID, cordoned, reason } = value;
    const table = (): string =>
      properties([
        ["Cluster", clusterID],
        ["Lends", cordoned ? "nothing new; existing reservations stay" : "again"],
        ["Reason", reason],
      ]);
    return { data: value, table, names: [clusterID] };
  });
}
