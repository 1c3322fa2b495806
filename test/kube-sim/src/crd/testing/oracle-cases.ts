import type { OracleCase } from "./oracle-case.ts";
import { FIELD_CASES } from "./oracle-fields.ts";
import { RULE_CASES } from "./oracle-rules.ts";
import { VALUE_CASES } from "./oracle-values.ts";

/** What Kubernetes' own code was asked; its answers are in oracle-answers.json. */
export const ORACLE_CASES: readonly OracleCase[] = [...VALUE_CASES, ...FIELD_CASES, ...RULE_CASES];
