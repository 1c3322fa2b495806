import { CONNECTION } from "../connection/options.ts";
import { OUTPUT } from "../output/output-option.ts";

export const ADOPTION_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;

export const OPEN_ADOPTION_OPTIONS = {
  for: { kind: "text", value: "time", default: "1h", summary: "how long it stays open, at most 168h" },
  ...ADOPTION_OPTIONS,
} as const;
