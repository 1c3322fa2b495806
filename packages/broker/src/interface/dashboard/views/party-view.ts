import { isZero, type ResourceVector } from "@resource-broker/base";
import type { UiParty } from "@resource-broker/contract/dashboard";
import {
  type AccountView,
  CURRENT_PROTOCOL,
  isLive,
  type LedgerView,
  type Reservation,
} from "@resource-broker/domain";
import { isStale, type Moment } from "../../shared/advertised-account.ts";
import { timeOf } from "./reservation-view.ts";

/** Both parties' state, each in one sentence. */
export function partiesOf(
  reservation: Reservation,
  { accounts }: Pick<LedgerView, "accounts">,
  moment: Moment,
): { readonly requester: UiParty; readonly provider: UiParty } {
  const { requester, provider } = reservation;
  const providerAccount = accounts.get(provider);
  const party = (id: string, state: string): UiParty => {
    const account = accounts.get(id);
    const hasAdvertised = account?.advertisement !== undefined;
    return {
      id,
      heardAt: timeOf(hasAdvertised ? account.receivedAt : undefined),
      isStale: hasAdvertised && isStale(account, moment),
      state,
    };
  };
  return {
    requester: party(requester, requesterState(reservation)),
    provider: party(provider, providerState(reservation, providerAccount)),
  };
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
export function acknowledges(account: AccountView | undefined): boolean {
  return (account?.advertisement?.protocol ?? CURRENT_PROTOCOL) >= CURRENT_PROTOCOL;
}
