import type { AuditEntryDTO } from "@resource-broker/contract";
import type { EventUpdate } from "./news.ts";

const DECISION = /^(?<text>.*) Decision (?<id>dec-[a-z0-9-]+)\.$/s;

/** The decision that an entry is about, if it is about one. */
export function decisionIdOf({ subject = "", message }: AuditEntryDTO): string | undefined {
  return subject.startsWith("dec-") ? subject : DECISION.exec(message)?.groups?.["id"];
}

/** What a line of the audit log tells. */
export function auditEvent({ at, actor, action, subject = "", message }: AuditEntryDTO): EventUpdate {
  const decided = DECISION.exec(message)?.groups?.["text"];
  const isRefusal = subject.startsWith("dec-");
  const about = subject === "" || isRefusal ? "" : `${subject}: `;
  return {
    at,
    source: actor,
    level: isRefusal ? "warn" : "info",
    text: decided ?? `${about}${message === "" ? action : message}`,
  };
}
