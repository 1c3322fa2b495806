import { replayWinner } from "@resource-broker/domain";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { withBroker } from "../connection/broker.ts";
import { print } from "../output/print.ts";
import { properties } from "../output/table.ts";
import type { REPLAY_OPTIONS } from "./options.ts";
import { readDecision } from "./read-decision.ts";
import { rebuildDecision } from "./rebuild-decision.ts";

export const replay: Run<typeof REPLAY_OPTIONS> = async ({ options, words }, host) => {
  const [word = ""] = words;
  await withBroker(options, host, async (broker) => {
    const { value } = await readDecision(broker, word);
    const computed = replayWinner(rebuildDecision(value)) ?? "nobody";
    const recorded = value.winner ?? "nobody";
    const isTie = isBetweenEquals(value.candidates, recorded, computed);
    const same = computed === recorded || isTie;
    const verdict = isTie
      ? "same score: the cluster with the lower reserved share won"
      : same
        ? "the same"
        : "another one";
    print(
      {
        data: { decisionID: value.id, recorded, computed, same, tie: isTie },
        table: () =>
          properties([
            ["Decision", value.id],
            ["Candidates that fitted", String(value.fitted)],
            ["Winner in the record", recorded],
            ["Winner computed again", computed],
            ["Verdict", verdict],
          ]),
        names: () => [computed],
      },
      options.output,
      host,
    );
    if (!same)
      throw new CommandError(
        "error",
        `${value.id} records ${recorded}, but the computed winner is ${computed}`,
      );
  });
};

interface Scored {
  readonly clusterID: string;
  readonly score?: number | undefined;
}

/** The broker returns values with 12 digits: scores closer than this are equal. */
const SAME_SCORE = 1e-9;

/** The tie between equal scores is decided by the reserved share, which the broker does not return. */
function isBetweenEquals(candidates: readonly Scored[], one: string, other: string): boolean {
  if (one === other) return false;
  const scoreOf = (id: string): number | undefined =>
    candidates.find(({ clusterID }) => clusterID === id)?.score;
  const [first, second] = [scoreOf(one), scoreOf(other)];
  return first !== undefined && second !== undefined && Math.abs(first - second) < SAME_SCORE;
}
