import { CONNECTION } from "../connection/options.ts";
import { OUTPUT } from "../output/output-option.ts";

export const GET_CLUSTERS_OPTIONS = {
  selector: {
    kind: "list",
    short: "l",
    value: "key=value",
    summary: "only clusters that advertise these labels",
  },
  watch: { kind: "flag", short: "w", summary: "go on, and print what changes" },
  output: OUTPUT,
  ...CONNECTION,
} as const;

export const DESCRIBE_CLUSTER_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;

export const CORDON_OPTIONS = {
  reason: { kind: "text", value: "text", summary: "why, in words that requesters will read" },
  output: OUTPUT,
  ...CONNECTION,
} as const;

export const UNCORDON_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;
