import { describeResources, formatTime, isZero, type ResourceVector, yamlText } from "@resource-broker/base";
import type { TimelineDTO } from "@resource-broker/contract";
import {
  type AccountView,
  CALLS_PROTOCOL,
  type Instant,
  isLive,
  type Reservation,
} from "@resource-broker/domain";
import { reservationStatus } from "../kubernetes/builders/reservation-status.ts";
import { desiredReservation } from "../kubernetes/reservations/reservation-view.ts";
import { isStale, type Moment } from "../shared/advertised-account.ts";
import { type RenderContext, renderReservation } from "../shared/render.ts";
import { amountsOf } from "./standing.ts";

type Step = TimelineDTO["steps"][number];

const HOUR_MS = 3_600_000;
const DEFAULT_NAMESPACE = "default";

export interface TimelineContext extends RenderContext, Moment {
  readonly ledgerId: string;
  /** When the provider acknowledged it; undefined: it has not, or the time is not known. */
  readonly heldAt: Instant | undefined;
  /** Of the broker's objects; absent while it shows none. */
  readonly objectsNamespace?: string | undefined;
}

/** A reservation from its request to its end. */
export function timelineOf(reservation: Reservation, context: TimelineContext): TimelineDTO {
  const { ledger, now, heldAt, objectsNamespace } = context;
  const { requester, provider, cost, reservedAt, endedAt } = reservation;
  const account = ledger.accounts.get(provider);
  const used = account?.usage.get(reservation.id)?.used;
  const object = desiredReservation(reservation, objectsNamespace ?? DEFAULT_NAMESPACE);
  const heldMs = Math.max(0, (endedAt ?? now) - reservedAt);
  return {
    reservation: renderReservation(context, reservation, { role: "admin" }),
    steps: stepsOf(reservation, { account, heldAt }),
    requester: partyOf(requester, requesterState(reservation), context),
    provider: partyOf(provider, providerState(reservation, account), context),
    ...(used === undefined ? {} : { used: amountsOf(used) }),
    ...(cost === undefined ? {} : { costSoFar: (cost.perHour * heldMs) / HOUR_MS }),
    object: yamlText({ ...object, status: reservationStatus(reservation, context) }),
  };
}

function partyOf(id: string, state: string, context: TimelineContext): TimelineDTO["provider"] {
  const account = context.ledger.accounts.get(id);
  if (account?.advertisement === undefined) return { id, isStale: false, state };
  return { id, receivedAt: formatTime(account.receivedAt), isStale: isStale(account, context), state };
}

function requesterState({ phase }: Reservation): string {
  if (phase === "Active") return "uses it";
  return isLive(phase) ? "has not activated it yet" : "no longer uses it";
}

function providerState({ id, phase, acknowledged }: Reservation, account: AccountView | undefined): string {
  if (!isLive(phase)) return endedProviderState(account?.usage.get(id)?.used);
  if (acknowledged) return "holds the capacity";
  return acknowledges(account) ? "has not confirmed yet" : "runs an older agent, which does not confirm";
}

function endedProviderState(used: ResourceVector | undefined): string {
  return used === undefined || isZero(used)
    ? "has its capacity back"
    : "still runs pods of it: the capacity returns when they are gone";
}

/** False for older agents, which never acknowledge. */
function acknowledges(account: AccountView | undefined): boolean {
  return (account?.advertisement?.protocol ?? CALLS_PROTOCOL) >= CALLS_PROTOCOL;
}

/** Progress of the provider: its account and its acknowledgement. */
interface ProviderProgress {
  readonly account: AccountView | undefined;
  readonly heldAt: Instant | undefined;
}

/** requested → reserved → told → enforced → active → end, each with what happened or what is waited for. */
function stepsOf(reservation: Reservation, progress: ProviderProgress): Step[] {
  const { requester, provider, granted, createdAt, reservedAt } = reservation;
  const what = describeResources(granted);
  return [
    step("requested", createdAt, `${requester} asked for ${what}`),
    step("reserved", reservedAt, `${provider} was chosen, and ${what} locked there`),
    toldStep(reservation, progress),
    enforcedStep(reservation, progress),
    activeStep(reservation),
    endStep(reservation),
  ];
}

function step(name: Step["step"], at: Instant | undefined, text: string): Step {
  return { step: name, ...(at === undefined ? {} : { at: formatTime(at) }), text };
}

/** Every reply to an advertisement lists the provider's reservations, so a later advertisement means that it was received. */
function toldStep(
  { provider, phase, reservedAt, acknowledged }: Reservation,
  { account, heldAt }: ProviderProgress,
): Step {
  const heardAt = account !== undefined && account.receivedAt > reservedAt ? account.receivedAt : undefined;
  if (acknowledged) return step("told", heldAt ?? heardAt, `${provider} was told`);
  if (!isLive(phase)) return step("told", undefined, `it ended before ${provider} acknowledged it`);
  return heardAt === undefined
    ? step("told", undefined, `${provider} receives it with its next advertisement`)
    : step("told", heardAt, `${provider} received it with its last advertisement`);
}

function enforcedStep(
  { provider, phase, acknowledged }: Reservation,
  { account, heldAt }: ProviderProgress,
): Step {
  if (acknowledged) return step("enforced", heldAt, `${provider} holds the capacity back`);
  if (!isLive(phase)) return step("enforced", undefined, `${provider} never acknowledged it`);
  const text = acknowledges(account)
    ? `waits for the acknowledgement of ${provider}`
    : `${provider} runs an older agent, which does not say so; the ledger keeps it locked`;
  return step("enforced", undefined, text);
}

function activeStep({ requester, phase, activatedAt, activateBy }: Reservation): Step {
  if (activatedAt !== undefined) return step("active", activatedAt, `${requester} uses it`);
  if (!isLive(phase)) return step("active", undefined, `${requester} never used it`);
  const until = activateBy === undefined ? "" : `, until ${formatTime(activateBy)} at the latest`;
  return step("active", undefined, `waits for ${requester} to use it${until}`);
}

function endStep({ endedAt, reason, message, expiresAt }: Reservation): Step {
  if (endedAt !== undefined) {
    const why = [reason, message].filter((part) => part !== undefined).join(": ");
    return step("end", endedAt, why === "" ? "ended" : why);
  }
  return step(
    "end",
    undefined,
    expiresAt === undefined ? "lasts until it is released" : `expires ${formatTime(expiresAt)}`,
  );
}
