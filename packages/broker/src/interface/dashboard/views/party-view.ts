import type { UiParty } from "@resource-broker/contract";
import {
  type AccountView,
  CURRENT_PROTOCOL,
  isLive,
  isZero,
  type LedgerView,
  type Reservation,
  type ResourceVector,
} from "@resource-broker/domain";
import { isStale, type Moment } from "./advertised-account.ts";
import { timeOf } from "./reservation-view.ts";

/** Both parties' state, each in one sentence. */
export function partiesOf(
  reservation: Reservation,
  { accounts }: Pick<LedgerView, "accounts">,
  moment: Moment,
): { readonly requester: UiParty; readonly provider: UiParty } {
  const { requester, provider } = reservation;
  const lender = accounts.get(provider);
  const party = (id: string, state: string): UiParty => {
    const account = accounts.get(id);
    const hasSpoken = account?.advertisement !== undefined;
    return {
      id,
      heardAt: timeOf(hasSpoken ? account.receivedAt : undefined),
      isStale: hasSpoken && isStale(account, moment),
      state,
    };
  };
  return {
    requester: party(requester, requesterState(reservation)),
    provider: party(provider, providerState(reservation, lender)),
  };
}

function requesterState({ phase }: Reservation): string {
  if (phase === "Active") return "uses it";
  return isLive(phase) ? "has not activated it yet" : "no longer uses it";
}

function providerState({ id, phase, acknowledged }: Reservation, account: AccountView | undefined): string {
  if (!isLive(phase)) return afterwards(account?.usage.get(id)?.used);
  if (acknowledged) return "holds the capacity";
  return doesConfirm(account) ? "has not confirmed yet" : "runs an older agent, which does not confirm";
}

function afterwards(used: ResourceVector | undefined): string {
  return used === undefined || isZero(used)
    ? "has its capacity back"
    : "still runs pods of it: the capacity returns when they are gone";
}

/** False for older agents, which never acknowledge. */
export function doesConfirm(account: AccountView | undefined): boolean {
  return (account?.advertisement?.protocol ?? CURRENT_PROTOCOL) >= CURRENT_PROTOCOL;
}
