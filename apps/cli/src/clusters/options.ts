import { CONNECTION } from "../connection/options.ts";
import { OUTPUT } from "../output/output-option.ts";

export const GET_CLUSTERS_OPTIONS = {
  selector: {
    kind: "list",
    short: "l",
    value: "key=value",
    summary: "only clusters that advertise these labels",
  },
  watch: { kind: "flag", short: "w", summary: "keep running and print changes" },
  output: OUTPUT,
  ...CONNECTION,
} as const;

export const DESCRIBE_CLUSTER_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;

export const CORDON_OPTIONS = {
  reason: { kind: "text", value: "text", summary: "the reason, shown to requesters" },
  output: OUTPUT,
  ...CONNECTION,
} as const;

export const UNCORDON_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;
