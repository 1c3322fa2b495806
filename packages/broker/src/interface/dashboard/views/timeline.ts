import { describeResources, formatTime } from "@resource-broker/base";
import type { UiReservationDetail } from "@resource-broker/contract/dashboard";
import { type AccountView, type Instant, isLive, type Reservation } from "@resource-broker/domain";
import { acknowledges } from "./party-view.ts";
import { timeOf } from "./reservation-view.ts";

type Step = UiReservationDetail["timeline"][number];

/** Progress of the provider: its account and its acknowledgement. */
export interface ProviderProgress {
  readonly account: AccountView | undefined;
  /** Time of the acknowledgement; undefined if there is none or it is unknown. */
  readonly heldAt: Instant | undefined;
}

/** requested → reserved → told → enforced → active → end, each with what happened or what is waited for. */
export function timelineOf(reservation: Reservation, progress: ProviderProgress): Step[] {
  const { requester, provider, granted, createdAt, reservedAt } = reservation;
  const what = describeResources(granted);
  return [
    { step: "requested", at: formatTime(createdAt), text: `${requester} asked for ${what}` },
    {
      step: "reserved",
      at: formatTime(reservedAt),
      text: `${provider} was chosen, and ${what} locked there`,
    },
    toldStep(reservation, progress),
    enforcedStep(reservation, progress),
    activeStep(reservation),
    endStep(reservation),
  ];
}

/** Every reply to an advertisement lists the provider's reservations, so a later advertisement means that it was received. */
function toldStep(
  { provider, phase, reservedAt, acknowledged }: Reservation,
  progress: ProviderProgress,
): Step {
  const { account, heldAt } = progress;
  const heardAt = account !== undefined && account.receivedAt > reservedAt ? account.receivedAt : undefined;
  if (acknowledged) return { step: "told", at: timeOf(heldAt ?? heardAt), text: `${provider} was told` };
  if (!isLive(phase)) return { step: "told", at: null, text: `it ended before ${provider} acknowledged it` };
  if (heardAt !== undefined)
    return {
      step: "told",
      at: formatTime(heardAt),
      text: `${provider} received it with its last advertisement`,
    };
  return { step: "told", at: null, text: `${provider} receives it with its next advertisement` };
}

function enforcedStep(
  { provider, phase, acknowledged }: Reservation,
  { account, heldAt }: ProviderProgress,
): Step {
  if (acknowledged)
    return { step: "enforced", at: timeOf(heldAt), text: `${provider} holds the capacity back` };
  if (!isLive(phase)) return { step: "enforced", at: null, text: `${provider} never acknowledged it` };
  return {
    step: "enforced",
    at: null,
    text: acknowledges(account)
      ? `waits for the acknowledgement of ${provider}`
      : `${provider} runs an older agent, which does not say so; the ledger keeps it locked`,
  };
}

function activeStep({ requester, phase, activatedAt, activateBy }: Reservation): Step {
  if (activatedAt !== undefined)
    return { step: "active", at: formatTime(activatedAt), text: `${requester} uses it` };
  if (!isLive(phase)) return { step: "active", at: null, text: `${requester} never used it` };
  const until = activateBy === undefined ? "" : `, until ${formatTime(activateBy)} at the latest`;
  return { step: "active", at: null, text: `waits for ${requester} to use it${until}` };
}

function endStep({ endedAt, reason, message, expiresAt }: Reservation): Step {
  if (endedAt !== undefined) {
    const why = [reason, message].filter((part) => part !== undefined).join(": ");
    return { step: "end", at: formatTime(endedAt), text: why === "" ? "ended" : why };
  }
  return {
    step: "end",
    at: null,
    text: expiresAt === undefined ? "lasts until it is released" : `expires ${formatTime(expiresAt)}`,
  };
}
