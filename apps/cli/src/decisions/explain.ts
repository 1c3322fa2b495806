import { decisionCall, isReserved, quoteCall } from "@resource-broker/client";
import type { DecisionDTO, ReservationDTO } from "@resource-broker/contract";
import type { Host, Run, View } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { EXPLAIN_OPTIONS, QUOTE_OPTIONS } from "../commands/broker-options.ts";
import { type Answer, type Broker, orUnknown, withBroker } from "../connection/broker.ts";
import { type ClusterOptions, nameIn, readObject, REQUESTS, withCluster } from "../objects/open-cluster.ts";
import { explainWaiting } from "../queue/describe-waiting.ts";
import { stylerFor } from "../output/print.ts";
import { costText } from "../output/text.ts";
import { asRequester, readRequest, requesterFor } from "../reservations/read-request.ts";
import { readReservation } from "../reservations/reservation.ts";
import { decisionText } from "./print-decision.ts";

export const explain: Run<typeof EXPLAIN_OPTIONS> = async ({ options, words: [word = ""] }, host) => {
  const show = (subject: string): Promise<View> =>
    withBroker(options, host, (broker) => explainSubject(broker, subject, host));
  if (!isRequest(word)) return show(word);
  const { kubeconfig, namespace, "kube-context": context } = options;
  const cluster = { kubeconfig, namespace, context, contextFlag: "--kube-context" } as const;
  const { subject, explanation } = await requestSubject(word, cluster, host);
  return show(subject).catch((error: unknown) => {
    // The broker cannot be called: the explanation in the request's status is printed.
    if (explanation !== undefined) host.note(`What the agent wrote down:\n${explanation}\n`);
    throw error;
  });
};

/** A request that waits has no decision yet: what would be decided now is shown. */
async function explainSubject(broker: Broker, word: string, host: Host): Promise<View> {
  const { kind, id } = subjectIn(word);
  if (kind === "decision") return decisionView(await decisionById(broker, id), host);
  const { value, ...answer } = await readReservation(broker, id);
  if (!isReserved(value)) return explainWaiting(broker, { ...answer, value }, host);
  return decisionView(await decisionById(broker, decisionOf(value)), host);
}

function decisionView({ value: decision }: Answer<DecisionDTO>, host: Host): View {
  const styled = stylerFor(host);
  return {
    data: decision,
    table: (isWide) => decisionText(decision, { styled, isWide }),
    names: [decision.id],
  };
}

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
  if (kind === "decision") return decisionById(broker, id);
  const { value } = await readReservation(broker, id);
  if (isReserved(value)) return decisionById(broker, decisionOf(value));
  throw new CommandError("error", `nothing has been decided about ${id}: ${value.status.message}`);
}

function decisionById(broker: Broker, decisionId: string): Promise<Answer<DecisionDTO>> {
  return orUnknown(broker.request(decisionCall(decisionId)), (cause) => {
    const { name, isAdmin } = broker.credentials;
    const whose = isAdmin ? "here. brokerctl audit lists those of refusals" : `about a request of ${name}`;
    const message = `there is no decision ${JSON.stringify(decisionId)} ${whose}; brokerctl describe reservation names a reservation's`;
    return new CommandError("error", message, { cause });
  });
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

function decisionOf({ id, decisionID }: ReservationDTO): string {
  if (decisionID !== undefined) return decisionID;
  throw new CommandError(
    "error",
    `${id} has no decision to explain: it was taken over from its clusters after the broker lost its ledger`,
  );
}

/** What a request knows of what the broker has decided. */
interface RequestSubject {
  /** Its decision; of a request that waits, or has left the queue, the reservation that it waits for. */
  readonly subject: string;
  /** In the agent's own words, for when the broker cannot be asked. */
  readonly explanation: string | undefined;
}

function isRequest(word: string): boolean {
  return word.includes("/") && nameIn(word, [REQUESTS]) !== word;
}

/** Reads `request/<name>` in the cluster that asked. */
function requestSubject(word: string, options: ClusterOptions, host: Host): Promise<RequestSubject> {
  const name = nameIn(word, [REQUESTS]);
  return withCluster(options, host, async (cluster) => {
    const { status = {} } = await readObject(cluster, REQUESTS, { name, namespace: cluster.namespace });
    const { decisionID, reservationName, message, explanation = message } = status;
    if (decisionID !== undefined) return { subject: `decision/${decisionID}`, explanation };
    if (reservationName !== undefined) return { subject: `reservation/${reservationName}`, explanation };
    const { phase = "not seen by an agent" } = status;
    throw new CommandError(
      "error",
      `the broker has decided nothing about request ${name} yet; it is ${phase}${message === undefined ? "" : `: ${message}`}`,
    );
  });
}

export const quote: Run<typeof QUOTE_OPTIONS> = async ({ options }, host) => {
  const body = readRequest(options);
  const styled = stylerFor(host);
  return withBroker(options, host, async (broker) => {
    // A quote reserves nothing: without --for, the requester is the owner of the certificate.
    const requester = options.for === undefined ? undefined : requesterFor(options.for, broker);
    const { value } = await broker.request(asRequester(quoteCall(body), requester));
    const { decision, fits, cost, targetClusterID } = value;
    const price = fits ? `\nPrice: ${costText(cost)}. Nothing is reserved.\n` : "";
    return {
      data: value,
      table: (isWide) => `${decisionText(decision, { styled, isWide })}${price}`,
      names: targetClusterID === undefined ? [] : [targetClusterID],
      problem: fits ? undefined : new CommandError("unsatisfiable", "no cluster can lend that now"),
    };
  });
};
