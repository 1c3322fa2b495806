import { MARKET_PROTOCOL } from "../advertisement/advertisement.ts";
import type { Instant } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { isDrained } from "../reservation/under-notice.ts";
import type { AccountView } from "./account.ts";
import {
  type Actor,
  type DecisionContext,
  type Drain,
  type Outcome,
  rejected,
  type SetCordon,
} from "./command.ts";
import type { LedgerEvent } from "./event.ts";
import type { LedgerView } from "./ledger.ts";

const MAX_DRAIN_GRACE_MS = 7 * 24 * 3_600_000;

export function decideCordon(
  ledger: LedgerView,
  command: SetCordon | Drain,
  context: DecisionContext,
): Outcome {
  const { by, clusterId, kind } = command;
  if (!by.isAdmin) return rejected("forbidden", `only an admin may ${kind} a cluster`);
  const account = ledger.accounts.get(clusterId);
  if (account === undefined)
    return rejected("not-found", `cluster ${clusterId} is unknown: it has never advertised or reserved`);
  if (command.kind === "drain") return decideDrain(ledger, { ...command, account }, context);
  const isCordoned = kind === "cordon";
  const reply = { kind: "cordon-set", clusterId, isCordoned } as const;
  if ((account.cordon !== undefined) === isCordoned) return { events: [], reply };
  const events = isCordoned ? [cordoned(command, context.now)] : uncordoned(account, by, context.now);
  return { events, reply };
}

function cordoned({ by, clusterId, why }: SetCordon | Drain, at: Instant): LedgerEvent {
  const cordon = { at, by: by.clusterId, ...(why === undefined ? {} : { why }) };
  return { kind: "cordoned", at, clusterId, cordon };
}

/** The notices of a drain are withdrawn with its cordon. */
function uncordoned({ clusterId, asProvider }: AccountView, by: Actor, at: Instant): LedgerEvent[] {
  const drained = [...asProvider.values()].filter(isDrained);
  return [
    { kind: "uncordoned", at, clusterId, by: by.clusterId },
    ...drained.map(({ id }) => ({ kind: "reprieved", at, id }) as const),
  ];
}

/**
 * A notice of an earlier drain keeps its deadline. One for a waiting request becomes one of this drain: the request cannot
 * start at a cordoned provider, so that its nomination lapses.
 */
function decideDrain(
  ledger: LedgerView,
  command: Drain & { readonly account: AccountView },
  { now, policy }: DecisionContext,
): Outcome {
  const { account, clusterId, why, graceMs = policy.preemption.graceMs } = command;
  if (!Number.isSafeInteger(graceMs) || graceMs <= 0 || graceMs > MAX_DRAIN_GRACE_MS)
    return rejected("invalid", "the grace of a drain must be more than 0 s and at most 7 days (168h)");
  const provided = [...account.asProvider.values()];
  const untold = provided.filter((each) => !isDrained(each) && !canBeTold(ledger, each));
  const left = new Set(untold);
  const noticed = provided.filter((each) => !left.has(each));
  const isNew = account.cordon === undefined || (why !== undefined && why !== account.cordon.why);
  const events: LedgerEvent[] = [
    ...(isNew ? [cordoned(command, now)] : []),
    ...noticed
      .filter((each) => !isDrained(each))
      .map(({ id }) => ({ kind: "preempting", at: now, id, until: now + graceMs }) as const),
  ];
  const idsOf = (reservations: readonly Reservation[]) => reservations.map(({ id }) => id);
  const reply = { kind: "draining", clusterId, noticed: idsOf(noticed), untold: idsOf(untold) } as const;
  return { events, reply };
}

/** Older agents know of no notices. */
function canBeTold(ledger: LedgerView, { requester }: Reservation): boolean {
  const protocol = ledger.accounts.get(requester)?.advertisement?.protocol ?? 0;
  return protocol >= MARKET_PROTOCOL;
}
