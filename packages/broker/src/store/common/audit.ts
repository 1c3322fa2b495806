import { hash } from "node:crypto";
import { describeResources, truncate } from "@resource-broker/base";
import {
  type ClosedDay,
  dateOf,
  type EndReason,
  headline,
  type Instant,
  type Invitation,
  isSoft,
  type LedgerEvent,
  type MemberEvent,
  MICRO_UNITS,
} from "@resource-broker/domain";
import { fingerprintOf } from "@resource-broker/runtime";
import type { AuditEntry, CommitBatch } from "../store.ts";
import type { Row } from "./record-tables.ts";

/** A line before it is chained. */
export type AuditLine = Omit<AuditEntry, "sequence" | "hash">;

/** A position in the chain: number and hash of the last line. */
export interface ChainLink {
  readonly sequence: number;
  readonly hash: string;
}

/** Before the first line of every log. */
export const CHAIN_START: ChainLink = { sequence: 0, hash: "0".repeat(64) };

/** Bounds texts that come from clusters, such as the reason of a refusal. */
const MAX_DETAIL_LENGTH = 1000;

/** What the batch adds to the audit log: one line for each event, soft ones left out. */
export function auditLines(batch: CommitBatch): AuditLine[] {
  return batch.entries.flatMap(({ by, action, events }) =>
    events
      .filter((event) => !isSoft(event))
      .map((event) => ({
        at: event.at,
        commitNumber: batch.number,
        by,
        action,
        subject: subjectOf(event),
        detail: truncate(detailOf(event), MAX_DETAIL_LENGTH),
      })),
  );
}

/** A line as it is stored. */
export interface ChainedLine {
  readonly link: ChainLink;
  readonly at: Instant;
  /** Its canonical text. */
  readonly text: string;
}

/** The batch's lines of the audit log, chained after `previous`. */
export function chainedLines(batch: CommitBatch, previous: ChainLink): ChainedLine[] {
  let link = previous;
  return auditLines(batch).map((line) => {
    const text = canonical(line);
    link = nextLink(link, text);
    return { link, at: line.at, text };
  });
}

/** The link that a line's canonical text makes when it follows `previous`. */
export function nextLink(previous: ChainLink, text: string): ChainLink {
  const sequence = previous.sequence + 1;
  return { sequence, hash: hash("sha256", `${previous.hash}\n${sequence}\n${text}`, "hex") };
}

/** What is wrong with a stored line that must follow `previous`, in words; undefined: nothing. */
export function chainProblem(
  previous: ChainLink,
  { sequence, hash, text }: ChainLink & { readonly text: string },
): string | undefined {
  const expected = nextLink(previous, text);
  if (sequence !== expected.sequence) return `line ${expected.sequence} is missing`;
  return hash === expected.hash ? undefined : `line ${sequence} was changed: it does not match its hash`;
}

/** The canonical text of a line. It is hashed, and stores must keep exactly this text. */
export function canonical({ at, commitNumber, by, action, subject, detail }: AuditLine): string {
  return JSON.stringify([at, commitNumber, by, action, subject, detail]);
}

/** A stored text is not an audit line. */
export class UnreadableLine extends Error {}

export function fromCanonical(text: string): AuditLine {
  const fields = fieldsIn(text);
  if (!Array.isArray(fields) || fields.length !== 6) throw new UnreadableLine("not an audit line");
  const [at, commitNumber, by, action, subject, detail] = fields.map(String);
  return {
    at: Number(at),
    commitNumber: Number(commitNumber),
    by: by ?? "",
    action: action ?? "",
    subject: subject ?? "",
    detail: detail ?? "",
  };
}

/** A line from its row in a SQL store. */
export function entryFrom(row: Row): AuditEntry {
  const line = fromCanonical(String(row["line"]));
  return { sequence: Number(row["sequence"]), ...line, hash: String(row["hash"]) };
}

function fieldsIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnreadableLine("not an audit line", { cause });
  }
}

function subjectOf(event: LedgerEvent): string {
  switch (event.kind) {
    case "granted":
    case "adopted":
      return event.reservation.id;
    case "queued":
      return event.waiting.id;
    case "refused":
      return event.decision.id;
    case "unqueued":
    case "nominated":
    case "nomination-lapsed":
    case "activated":
    case "renewed":
    case "acknowledged":
    case "ended":
    case "retained":
    case "preempting":
    case "reprieved":
    case "resumed":
    case "forgotten":
    case "adoption-withdrawn":
      return event.id;
    case "key-closed":
      return event.closedKey.requester;
    case "key-reopened":
      return event.requester;
    case "cordoned":
    case "uncordoned":
      return event.clusterId;
    case "advertised":
      return event.advertisement.clusterId;
    case "adoption-offered":
      return event.offer.id;
    case "adoption-window-set":
    case "day-closed":
    case "settled":
      return "ledger";
    case "member-invited":
    case "member-enrolled":
    case "member-accepted":
    case "member-bound":
    case "member-evicted":
      return event.member.clusterId;
  }
}

function detailOf(event: LedgerEvent): string {
  switch (event.kind) {
    case "granted":
      return `${headline(event.decision)} Decision ${event.decision.id}.`;
    case "refused":
      return headline(event.decision);
    case "adopted": {
      const { provider, requester, granted, phase } = event.reservation;
      return `Adopted: ${provider} lends ${describeResources(granted)} to ${requester}, ${phase}.`;
    }
    case "queued": {
      const { requester, request, until } = event.waiting;
      return `Waits until ${instant(until)}: ${requester} asks for ${describeResources(request.resources)}.`;
    }
    case "unqueued":
      return `Left the queue: ${withMessage(event)}`;
    case "preempting":
    case "reprieved":
    case "resumed":
      return noticeDetail(event);
    case "nominated":
      return nominatedDetail(event);
    case "nomination-lapsed":
      return "Its nomination has lapsed.";
    case "ended":
      return `Ended: ${withMessage(event)}`;
    case "renewed":
      return `Renewed until ${instant(event.expiresAt)}.`;
    case "retained":
      return `Remembered until ${instant(event.until)}: its pods still run.`;
    case "day-closed":
      return chargesOf(event.closedDay);
    case "key-closed":
      return `Key ${event.closedKey.key} closed until ${instant(event.closedKey.until)}.`;
    case "key-reopened":
      return `Key ${event.key} may be used again.`;
    case "cordoned":
      return event.cordon.why === undefined ? "Cordoned." : `Cordoned: ${event.cordon.why}`;
    case "adoption-window-set": {
      const { cause, since, until } = event.window;
      return cause === "closed"
        ? "Adoption closed."
        : `Adoption (${cause}): holds made before ${instant(since)} are adopted until ${instant(until)}.`;
    }
    case "activated":
    case "acknowledged":
    case "forgotten":
    case "uncordoned":
      return DETAILS[event.kind];
    case "member-invited":
    case "member-enrolled":
    case "member-accepted":
    case "member-bound":
    case "member-evicted":
      return memberDetail(event);
    case "advertised":
    case "adoption-offered":
    case "adoption-withdrawn":
    case "settled":
      return "";
  }
}

function chargesOf({ day, committed }: ClosedDay): string {
  const charges = committed.map(([tenant, amount]) => `${tenant} ${amount / MICRO_UNITS}`);
  return `${dateOf(day)} is over. Charged: ${charges.join(", ")}.`;
}

function nominatedDetail({
  provider,
  decision,
}: Extract<LedgerEvent, { readonly kind: "nominated" }>): string {
  const why = decision === undefined ? "" : ` Decision ${decision.id} names who gives way.`;
  return `Nominated: what ${provider} has free is kept for it.${why}`;
}

function noticeDetail(
  event: Extract<LedgerEvent, { readonly kind: "preempting" | "reprieved" | "resumed" }>,
): string {
  if (event.kind === "reprieved") return "Its notice is withdrawn.";
  if (event.kind === "resumed") return `${event.by} has taken over its place in the queue.`;
  const { by, priority, until } = event;
  const cause =
    by === undefined ? "its provider is drained" : `${by} (priority ${priority}) needs its capacity`;
  return `Notice: ends at ${instant(until)}, because ${cause}.`;
}

function withMessage({ reason, message }: { readonly reason: EndReason; readonly message?: string }): string {
  return message === undefined ? `${reason}.` : `${reason}: ${message}`;
}

/** Keys as `brokerctl get members` shows them; of a token only its ID is told. */
function memberDetail(event: MemberEvent): string {
  const { key, invitation } = event.member;
  switch (event.kind) {
    case "member-invited":
      return invitation === undefined ? "" : invitedDetail(invitation);
    case "member-enrolled": {
      const what = key === undefined ? "waits for an admin" : "is bound";
      return `Token ${invitation?.tokenId} was used: identity key ${shownKey(invitation?.key)} ${what}.`;
    }
    case "member-accepted":
      return `Accepted: identity key ${shownKey(key)} is bound.`;
    case "member-bound":
      return `First call with an identity key: ${shownKey(key)} is bound.`;
    case "member-evicted":
      return event.why === undefined ? "Evicted." : `Evicted: ${event.why}`;
  }
}

function shownKey(key = ""): string {
  return fingerprintOf(key);
}

function invitedDetail({ tokenId, expiresAt, needsConfirmation }: Invitation): string {
  const what = needsConfirmation ? "; an admin must accept its key" : "";
  return `Invited with token ${tokenId} until ${instant(expiresAt)}${what}.`;
}

const DETAILS = {
  activated: "Activated by its requester.",
  acknowledged: "Held by its provider.",
  forgotten: "Forgotten: it ended long ago.",
  uncordoned: "Uncordoned.",
};

function instant(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `${at} ms` : date.toISOString();
}
