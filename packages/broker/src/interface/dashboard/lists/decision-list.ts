import { oneOf, limitOf, type Parameters, textOf, wholeNumber } from "./list-query.ts";

const MAX_OFFSET = 1000;

export interface DecisionQuery {
  readonly outcome: "granted" | "refused" | undefined;
  readonly requester: string;
  readonly offset: number;
  readonly limit: number;
}

export function readDecisionQuery(parameters: Parameters): DecisionQuery {
  return {
    outcome: oneOf(parameters, "outcome", ["granted", "refused"]),
    requester: textOf(parameters, "requester"),
    offset: wholeNumber(parameters, "offset", { fallback: 0, minimum: 0, maximum: MAX_OFFSET }),
    limit: limitOf(parameters),
  };
}
