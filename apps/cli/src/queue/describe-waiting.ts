import { explainWaitingCall } from "@resource-broker/client";
import type { DecisionDTO, WaitingRequestDTO } from "@resource-broker/contract";
import type { Host, View } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type Answer, type Broker, orUnknown } from "../connection/broker.ts";
import { type DecisionTextOptions, decisionText } from "../decisions/print-decision.ts";
import { stylerFor } from "../output/print.ts";
import { endsLater } from "./ends-later.ts";
import { isLeft, waitingText } from "./waiting.ts";

interface DecisionNow {
  readonly decision: DecisionDTO;
  /** What is free where it could start, and when there is more. */
  readonly room: string;
}

/** What would be decided about it now; undefined: it has left the queue. */
async function decisionNow(broker: Broker, waiting: WaitingRequestDTO): Promise<DecisionNow | undefined> {
  if (isLeft(waiting)) return undefined;
  const { id } = waiting;
  const { value: decision } = await orUnknown(
    broker.request(explainWaitingCall(id)),
    (cause) => new CommandError("error", `${id} has just left the queue: ask again`, { cause }),
  );
  return { decision, room: await endsLater(broker, decision) };
}

/** Its place, and what would be decided now: who has how much, and what it lacks. */
export async function describeWaiting(
  broker: Broker,
  { value: waiting, at }: Answer<WaitingRequestDTO>,
  host: Host,
): Promise<View> {
  const styled = stylerFor(host);
  const now = await decisionNow(broker, waiting);
  return {
    data: { waiting, ...(now === undefined ? {} : { decision: now.decision }) },
    table: (isWide) => {
      const why = now === undefined ? "" : `\n${whyText(now, { styled, isWide })}`;
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
  const now = await decisionNow(broker, waiting);
  if (now === undefined)
    return { data: waiting, table: () => waitingText(waiting, at, styled), names: [waiting.id] };
  return {
    data: now.decision,
    table: (isWide) => `${waiting.status.message}.\n\n${whyText(now, { styled, isWide })}`,
    names: [now.decision.id],
  };
}

function whyText({ decision, room }: DecisionNow, options: DecisionTextOptions): string {
  const why = decisionText(decision, options);
  return room === "" ? why : `${why}\n${room}`;
}
