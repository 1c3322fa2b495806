import {
  type Command,
  type LedgerView,
  type Outcome,
  type ReceivedAdvertisement,
  receivedFrom,
} from "@resource-broker/domain";
import type { CommitBatch } from "../store/store.ts";
import type { Pending } from "./command-queue.ts";
import type { RecordedRefusals } from "./recorded-refusals.ts";

/** A command with what it decided, until the commit is through. */
export interface Decided {
  readonly pending: Pending;
  readonly outcome: Outcome;
}

interface BatchDeps extends Pick<CommitBatch, "number" | "at"> {
  readonly ledger: LedgerView;
  readonly refusals: RecordedRefusals;
}

/** What has to be durable before these commands are answered. */
export function batchOf(
  decided: readonly Decided[],
  { number, at, ledger, refusals }: BatchDeps,
): Required<CommitBatch> {
  const entries = decided.flatMap(({ pending: { command }, outcome }) => {
    const events = refusals.durableOf(outcome.events, at);
    return events.length === 0 ? [] : [{ by: actorOf(command), action: command.kind, events }];
  });
  const advertisements = new Map<string, ReceivedAdvertisement>();
  for (const { pending } of decided) {
    const received = receivedIn(ledger, pending.command);
    if (received !== undefined) advertisements.set(received.advertisement.clusterId, received);
  }
  return { number, at, entries, advertisements: [...advertisements.values()] };
}

/** What is in force of a cluster that advertises; undefined for any other command. */
export function receivedIn({ accounts }: LedgerView, command: Command): ReceivedAdvertisement | undefined {
  const account = command.kind === "advertise" ? accounts.get(command.advertisement.clusterId) : undefined;
  return account && receivedFrom(account);
}

/** The actor for the audit log. Actions of a timer have the actor `broker`. */
function actorOf(command: Command): string {
  switch (command.kind) {
    case "advertise":
      return command.advertisement.clusterId;
    case "reserve":
    case "release-by-key":
      return command.by?.clusterId ?? command.requester;
    case "expire-due":
    case "import":
      return "broker";
    case "activate":
    case "renew":
    case "release":
    case "acknowledge":
    case "refuse":
    case "cordon":
    case "uncordon":
    case "adopt":
    case "open-adoption":
    case "close-adoption":
      return command.by.clusterId;
  }
}
