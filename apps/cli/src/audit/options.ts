import { CONNECTION } from "../connection/options.ts";
import { VERIFY_OPTIONS } from "../ledger/options.ts";
import { OUTPUT } from "../output/output-option.ts";

export const AUDIT_OPTIONS = {
  tail: { kind: "count", value: "lines", default: 50, max: 1_000_000, summary: "how many of the last lines" },
  all: { kind: "flag", summary: "every line that is still kept" },
  follow: { kind: "flag", short: "f", summary: "keep running and print new lines" },
  verify: { kind: "flag", summary: "compute the hash chain of every line again instead of showing them" },
  output: OUTPUT,
  ...CONNECTION,
  store: { ...VERIFY_OPTIONS.store, summary: "with the word verify: the ledger whose files are checked" },
} as const;
