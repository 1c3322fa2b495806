import { explainWaitingCall } from "@resource-broker/client";
import type { DecisionDTO, WaitingRequestDTO } from "@resource-broker/contract";
import type { Host, View } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type Answer, type Broker, orUnknown } from "../connection/broker.ts";
import { decisionText } from "../decisions/print-decision.ts";
import { stylerFor } from "../output/print.ts";
import { isLeft, waitingText } from "./waiting.ts";

/** What would be decided about it now; undefined: it has left the queue. */
async function decisionNow(broker: Broker, waiting: WaitingRequestDTO): Promise<DecisionDTO | undefined> {
  if (isLeft(waiting)) return undefined;
  const { id } = waiting;
  const { value } = await orUnknown(
    broker.request(explainWaitingCall(id)),
    (cause) => new CommandError("error", `${id} has just left the queue: ask again`, { cause }),
  );
  return value;
}

/** Its place, and what would be decided now: who has how much, and what it lacks. */
export async function describeWaiting(
  broker: Broker,
  { value: waiting, at }: Answer<WaitingRequestDTO>,
  host: Host,
): Promise<View> {
  const styled = stylerFor(host);
  const decision = await decisionNow(broker, waiting);
  return {
    data: { waiting, ...(decision === undefined ? {} : { decision }) },
    table: (isWide) => {
      const why = decision === undefined ? "" : `\n${decisionText(decision, { styled, isWide })}`;
      return `${waitingText(waiting, at, styled)}${why}`;
    },
    names: [waiting.id],
  };
}

/** Why it still waits; of one that has left the queue, why it did. */
export async function explainWaiting(
  broker: Broker,
  { value: waiting, at }: Answer<WaitingRequestDTO>,
  host: Host,
): Promise<View> {
  const styled = stylerFor(host);
  const decision = await decisionNow(broker, waiting);
  if (decision === undefined)
    return { data: waiting, table: () => waitingText(waiting, at, styled), names: [waiting.id] };
  return {
    data: decision,
    table: (isWide) => `${waiting.status.message}.\n\n${decisionText(decision, { styled, isWide })}`,
    names: [decision.id],
  };
}
