import { Fault } from "@resource-broker/base";
import { decisionCall } from "@resource-broker/client";
import type { DecisionDTO } from "@resource-broker/contract";
import { CommandError } from "../cli/exit-code.ts";
import type { Answer, Broker } from "../connection/broker.ts";
import { readReservation } from "../reservations/read-reservations.ts";

const KINDS: Readonly<Record<string, "reservation" | "decision">> = {
  reservation: "reservation",
  reservations: "reservation",
  rsv: "reservation",
  decision: "decision",
  decisions: "decision",
  dec: "decision",
};

/** The decision that a word names: by its own ID, or by that of the reservation it made. */
export async function readDecision(broker: Broker, word: string): Promise<Answer<DecisionDTO>> {
  const { kind, id } = subjectIn(word);
  const decisionId = kind === "decision" ? id : await decisionOf(broker, id);
  try {
    return await broker.request(decisionCall(decisionId));
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "not-found") throw error;
    throw unknownDecision(decisionId, broker, error);
  }
}

function unknownDecision(id: string, { credentials }: Broker, cause: Fault): CommandError {
  const { name, isAdmin } = credentials;
  const whose = isAdmin ? "here. brokerctl audit lists those of refusals" : `about a request of ${name}`;
  return new CommandError(
    "error",
    `there is no decision ${JSON.stringify(id)} ${whose}; brokerctl describe reservation names a reservation's`,
    { cause },
  );
}

function subjectIn(word: string): { readonly kind: "reservation" | "decision"; readonly id: string } {
  const [, stated, name] = /^([a-z]+)\/(.+)$/u.exec(word) ?? [];
  // Every ID begins with what it is of.
  const [prefix = ""] = word.split("-");
  const kind = KINDS[stated ?? prefix];
  if (kind !== undefined) return { kind, id: name ?? word };
  throw new CommandError(
    "usage",
    `${JSON.stringify(word)} is neither a reservation (rsv-…) nor a decision (dec-…); write reservation/<id>, decision/<id> or request/<name>`,
  );
}

async function decisionOf(broker: Broker, id: string): Promise<string> {
  const { value } = await readReservation(broker, id);
  if (value.decisionID !== undefined) return value.decisionID;
  throw new CommandError(
    "error",
    `${id} has no decision to explain: it was taken over from its clusters after the broker lost its ledger`,
  );
}
