import {
  type Command,
  type LedgerView,
  type Outcome,
  type ReceivedAdvertisement,
  receivedFrom,
  type Reply,
} from "@resource-broker/domain";
import type { CommitBatch } from "../store/store.ts";
import type { RefusedCommand } from "./engine.ts";
import type { RecordedRefusals } from "./recorded-refusals.ts";

/** A command and the caller who waits for its answer. */
export interface Pending {
  readonly command: Command;
  /** Of an advertisement, which was decided when it came: only its commit is waited for. */
  readonly outcome?: Outcome;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** Commands that wait for the next batch. Other commands go first, in order of arrival; requests follow by priority. */
export class CommandQueue {
  #waiting: Pending[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  push(pending: Pending): void {
    this.#waiting.push(pending);
  }

  /** Takes the next batch, at most `limit` commands, the most urgent first. */
  take(limit: number): Pending[] {
    const ordered = this.#waiting.length > 1 ? byUrgency(this.#waiting) : this.#waiting;
    this.#waiting = ordered.slice(limit);
    return ordered.slice(0, limit);
  }
}

/** Sorting is stable: equals keep the order of arrival. */
function byUrgency(waiting: readonly Pending[]): Pending[] {
  return waiting.toSorted((a, b) => urgency(b.command) - urgency(a.command));
}

/** The queue goes first. Releases and renewals go before requests: they need no capacity and may free some. */
function urgency(command: Command): number {
  if (command.kind === "admit") return Number.POSITIVE_INFINITY;
  return command.kind === "reserve" ? command.request.priority : Number.MAX_VALUE;
}

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
    case "enroll":
    case "bind":
      return command.clusterId;
    case "admit":
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
    case "drain":
    case "adopt":
    case "open-adoption":
    case "close-adoption":
    case "invite":
    case "accept":
    case "evict":
      return command.by.clusterId;
  }
}

/** The requests of a batch that were refused. */
export function refusedIn(decided: readonly Decided[]): RefusedCommand[] {
  return decided.flatMap(({ pending: { command }, outcome: { reply } }) =>
    command.kind === "reserve" && reply.kind === "refused" ? [{ command, decision: reply.decision }] : [],
  );
}
