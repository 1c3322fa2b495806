import {
  apiVersionOf,
  reservationKind,
  reservationMessage,
  type UiReservationDetail,
  yamlText,
} from "@resource-broker/contract";
import { type Instant, isLive, type LedgerView, type Reservation } from "@resource-broker/domain";
import { reservationStatus } from "../../kubernetes/forge/reservation-status.ts";
import { desiredReservation } from "../../kubernetes/views/reservation-view.ts";
import { amountsOf } from "./amounts.ts";
import type { Moment } from "./advertised-account.ts";
import { partiesOf } from "./party-view.ts";
import { costSoFar, reservationView } from "./reservation-view.ts";
import { timelineOf } from "./timeline.ts";

/** Additional data for the detail of a reservation. */
export interface DetailContext extends Moment {
  readonly ledger: LedgerView;
  readonly ledgerId: string;
  /** Time of the provider's acknowledgement, if known. */
  readonly heldAt: Instant | undefined;
  /** Where brokerctl reaches the broker; null: nowhere. */
  readonly apiURL: string | null;
  /** Of the broker's objects; null while it shows none. */
  readonly objectsNamespace: string | null;
}

export function reservationDetail(reservation: Reservation, context: DetailContext): UiReservationDetail {
  const { ledger, now, heldAt } = context;
  const account = ledger.accounts.get(reservation.provider);
  const used = account?.usage.get(reservation.id)?.used;
  return {
    ...reservationView(reservation),
    message: reservationMessage(reservation, "admin"),
    timeline: timelineOf(reservation, { account, heldAt }),
    costSoFar: costSoFar(reservation, now),
    parties: partiesOf(reservation, ledger, context),
    used: used === undefined ? null : amountsOf(used),
    decisionID: reservation.decisionId ?? null,
    yaml: yamlOf(reservation, context),
    commands: commandsFor(reservation, context),
  };
}

const DEFAULT_NAMESPACE = "default";

/** The object that the broker shows, or would show, on its cluster. */
function yamlOf(
  reservation: Reservation,
  { ledger, ledgerId, now, objectsNamespace }: DetailContext,
): string {
  const desired = desiredReservation(reservation, objectsNamespace ?? DEFAULT_NAMESPACE);
  return yamlText({ ...desired, status: reservationStatus(reservation, { ledger, ledgerId, now }) });
}

type CommandLine = UiReservationDetail["commands"][number];

function commandsFor({ id, phase, decisionId }: Reservation, context: DetailContext): CommandLine[] {
  const { apiURL, objectsNamespace } = context;
  const resource = `${reservationKind.plural}.${apiVersionOf(reservationKind).split("/")[0] ?? ""}`;
  const brokerctl = (title: string, words: string): CommandLine[] =>
    apiURL === null ? [] : [{ title, line: `brokerctl ${words} ${id} --broker ${apiURL}` }];
  const kubectl = (title: string, words: string): CommandLine[] =>
    objectsNamespace === null ? [] : [{ title, line: `kubectl --namespace ${objectsNamespace} ${words}` }];
  return [
    ...brokerctl("Look at it", "describe reservation"),
    ...kubectl("Look at its object", `get ${resource} ${id} --output yaml`),
    ...(decisionId === undefined ? [] : brokerctl("Why it went there", "explain")),
    ...(isLive(phase) ? brokerctl("End it", "release") : []),
  ];
}
