import type { Command } from "../ledger/command.ts";
import type { Waiting } from "../queue/waiting.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";
import type { Policy } from "../scheduling/policy.ts";
import { keyOf, type LedgerModel } from "./ledger-model.ts";
import { askedOfMember } from "./member-rules.ts";

/** What was asked for so far: whatever ends a reservation must have been asked for, or be due. */
export class ReceivedCommands {
  /** `release rsv-1`, `admin rsv-1`, `refuse rsv-1`, `key rome\nk`, `drain paris 30000`. */
  readonly #asked = new Set<string>();

  add(command: Command): void {
    if (command.kind === "release")
      this.#asked.add(`${command.by.isAdmin ? "admin" : "release"} ${command.id}`);
    for (const what of askedOfMember(command)) this.#asked.add(what);
    if (command.kind === "drain") this.#asked.add(`drain ${command.clusterId} ${command.graceMs}`);
    if (command.kind === "refuse") this.#asked.add(`refuse ${command.id}`);
    if (command.kind === "release-by-key") this.#asked.add(`key ${keyOf(command.requester, command.key)}`);
  }

  has(what: string): boolean {
    return this.#asked.has(what);
  }
}

export interface RuleContext {
  readonly policy: Policy;
  readonly asked: ReceivedCommands;
  /** When the broker began to listen: nobody is lost before it could speak. */
  readonly listeningSince: number;
}

/** What was promised before a start neither times out nor ends after a notice before the clusters had the time to speak. */
export function isTooSoon(
  { policy, listeningSince }: Pick<RuleContext, "policy" | "listeningSince">,
  { promisedAt, at }: { readonly promisedAt: number; readonly at: number },
): boolean {
  return promisedAt < listeningSince && at < listeningSince + 2 * policy.stalenessMs;
}

export interface Match {
  readonly provider: string;
  readonly requester: string;
  readonly request: ReservationRequest;
  readonly at: number;
  /** Of a request that waits. */
  readonly id?: string;
}

/** Why this provider should not have been chosen, whatever it has. */
export function unfit(model: LedgerModel, match: Match, { policy }: RuleContext): string | undefined {
  const { provider, requester, request, at } = match;
  if (provider === requester) return `${provider} lends to itself`;
  if ((request.target ?? provider) !== provider) return `${provider} is not the target`;
  if (request.constraints.excludeClusters?.includes(provider) === true) return `${provider} was excluded`;
  if (model.cordoned.has(provider)) return `${provider} lends though it is cordoned`;
  if (model.isEvicted(provider)) return `${provider} lends though it was evicted`;
  if (at - advertisedAt(model, provider) > policy.stalenessMs)
    return `${provider} lends on an old advertisement`;
  return sinceRefusal(model, match) < policy.refusalMemoryMs
    ? `${provider} has just refused ${requester}`
    : undefined;
}

function advertisedAt(model: LedgerModel, provider: string): number {
  return model.newest.get(provider)?.receivedAt ?? Number.NEGATIVE_INFINITY;
}

function sinceRefusal(model: LedgerModel, { provider, requester, at }: Match): number {
  let since = Number.POSITIVE_INFINITY;
  for (const entry of model.entries.values()) {
    const isOne =
      entry.reason === "ProviderRefused" && entry.provider === provider && entry.requester === requester;
    if (isOne) since = Math.min(since, at - (entry.endedAt ?? 0));
  }
  return since;
}

export function tenantOf(
  { requester, namespace }: Pick<Waiting, "requester" | "namespace">,
  { tenants }: Policy,
): string {
  const found = Object.entries(tenants).find(([, { members }]) =>
    members.some(
      ({ cluster, namespaces }) =>
        cluster === requester && (namespaces === undefined || namespaces.includes(namespace ?? "")),
    ),
  );
  return found?.[0] ?? (requester in tenants ? `cluster/${requester}` : requester);
}
