import type { Advertisement } from "@resource-broker/contract/crd";
import type { Run } from "../cli/command.ts";
import { amountsIn, leftOf, listed } from "../output/amounts.ts";
import type { Column } from "../output/table.ts";
import { ageColumn, agoOf, nameColumn } from "./columns.ts";
import { ADVERTISEMENTS } from "./kinds.ts";
import type { GET_OBJECTS_OPTIONS } from "./options.ts";
import { type ObjectState, type ObjectTextOptions, printObjects } from "./print-objects.ts";

type Row = ObjectState<Advertisement>;

export const getAdvertisements: Run<typeof GET_OBJECTS_OPTIONS> = (order, host) =>
  printObjects({ kinds: [ADVERTISEMENTS], columns, moreColumns, noun: "advertisement" }, order, host);

function columns({ now, styled }: ObjectTextOptions): readonly Column<Row>[] {
  return [
    nameColumn(),
    { title: "CLUSTER", value: ({ object }) => object.spec.clusterID },
    { title: "CPU", value: leftColumn("cpuMillis", "cpu") },
    { title: "MEMORY", value: leftColumn("memoryBytes", "memory") },
    { title: "GPU", value: leftColumn("gpus", "gpu") },
    { title: "RESERVED", value: ({ object }) => listed(amountsIn(object.spec.resources.reserved ?? {})) },
    {
      title: "PUBLISHED",
      value: ({ object: { status }, isDeleted }) => {
        if (isDeleted) return styled("deleted", "quiet");
        return status?.published === true ? styled("yes", "good") : styled("no", "bad");
      },
    },
    { title: "FRESH", value: ({ object: { spec } }) => agoOf(spec.timestamp, now) },
    ageColumn(now),
  ];
}

function moreColumns(): readonly Column<Row>[] {
  return [
    { title: "STORAGE", value: leftColumn("storageBytes", "storage") },
    { title: "PRICE", value: ({ object: { spec } }) => cpuPrice(spec) },
    { title: "ENDPOINT", value: ({ object: { spec } }) => spec.endpointURL ?? "-" },
    { title: "LIQO", value: ({ object: { spec } }) => spec.liqo?.version ?? "-" },
    { title: "MESSAGE", value: ({ object: { status } }) => status?.message ?? "-" },
  ];
}

function cpuPrice({ cost }: Advertisement["spec"]): string {
  return cost?.cpuCost === undefined ? "-" : `${cost.cpuCost} ${cost.currency}/CPU-h`;
}

function leftColumn(field: "cpuMillis" | "memoryBytes" | "gpus" | "storageBytes", name: string) {
  return ({ object: { spec } }: Row): string =>
    leftOf(name, amountsIn(spec.resources.available)[field], amountsIn(spec.resources.allocatable)[field]);
}
