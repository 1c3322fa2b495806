import { CONNECTION } from "../connection/options.ts";
import { OUTPUT } from "../output/output-option.ts";

export const DASHBOARD_OPTIONS = {
  viewer: { kind: "flag", summary: "the browser may look at everything and change nothing" },
  open: { kind: "flag", summary: "open the link in this machine's browser" },
  output: OUTPUT,
  ...CONNECTION,
} as const;
