import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { nameIn, REQUESTS } from "./kinds.ts";
import { type ClusterOptions, withCluster } from "./open-cluster.ts";
import { readObject } from "./read-objects.ts";

/** What a request knows of the decision that was made about it. */
export interface RequestDecision {
  readonly decisionId: string;
  /** In the agent's own words, for when the broker cannot be asked. */
  readonly explanation: string | undefined;
}

export function isRequest(word: string): boolean {
  return word.includes("/") && nameIn(word, [REQUESTS]) !== word;
}

/** Reads `request/<name>` in the cluster that asked. */
export async function requestDecision(
  word: string,
  options: ClusterOptions,
  host: Host,
): Promise<RequestDecision> {
  const name = nameIn(word, [REQUESTS]);
  let found: RequestDecision | undefined;
  await withCluster(options, host, async (cluster) => {
    const { status = {} } = await readObject(cluster, REQUESTS, { name, namespace: cluster.namespace });
    const { decisionID, message, explanation = message, phase = "not seen by an agent" } = status;
    if (decisionID === undefined) {
      throw new CommandError(
        "error",
        `the broker has decided nothing about request ${name} yet; it is ${phase}${message === undefined ? "" : `: ${message}`}`,
      );
    }
    found = { decisionId: decisionID, explanation };
  });
  if (found === undefined) throw new Error("a request was read, but not its decision");
  return found;
}
