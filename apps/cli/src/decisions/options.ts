import { CONNECTION } from "../connection/options.ts";
import { OUTPUT } from "../output/output-option.ts";

export const EXPLAIN_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;

export const REPLAY_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;
