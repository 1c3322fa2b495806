import { Fault } from "@resource-broker/base";
import { cordonCall, type TypedCall, uncordonCall } from "@resource-broker/client";
import type { CordonReplyDTO } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import type { Host } from "../cli/host.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import { properties } from "../output/table.ts";
import type { CORDON_OPTIONS, UNCORDON_OPTIONS } from "./options.ts";
import { unknownCluster } from "./read-clusters.ts";

export const cordon: Run<typeof CORDON_OPTIONS> = async ({ options, words }, host) => {
  const [id = ""] = words;
  const { reason, output } = options;
  await withBroker(options, host, async (broker) => {
    await set(broker, { id, call: cordonCall(id, reason), output, host });
  });
};

export const uncordon: Run<typeof UNCORDON_OPTIONS> = async ({ options, words }, host) => {
  const [id = ""] = words;
  const { output } = options;
  await withBroker(options, host, async (broker) => {
    await set(broker, { id, call: uncordonCall(id), output, host });
  });
};

interface Setting {
  readonly id: string;
  readonly call: TypedCall<CordonReplyDTO>;
  readonly output: OutputFormat;
  readonly host: Host;
}

async function set(broker: Broker, { id, call, output, host }: Setting): Promise<void> {
  const { value } = await broker.request(call).catch(async (error: unknown) => {
    throw error instanceof Fault && error.code === "not-found"
      ? await unknownCluster(broker, id, error)
      : error;
  });
  const { clusterID, cordoned, reason } = value;
  const table = (): string =>
    properties([
      ["Cluster", clusterID],
      ["Lends", cordoned ? "nothing new; existing reservations stay" : "again"],
      ...(reason === undefined ? [] : [["Reason", reason] as const]),
    ]);
  print({ data: value, table, names: () => [clusterID] }, output, host);
}
