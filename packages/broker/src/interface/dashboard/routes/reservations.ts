import { describeResources, Fault, yamlText } from "@resource-broker/base";
import { reservationMessage } from "@resource-broker/contract";
import { apiVersionOf, reservationKind } from "@resource-broker/contract/crd";
import type { UiDone, UiReservationDetail } from "@resource-broker/contract/dashboard";
import { type Instant, isLive, type LedgerView, type Reservation } from "@resource-broker/domain";
import { ok, type PlainAnswer } from "../../http/route.ts";
import { reservationStatus } from "../../kubernetes/builders/reservation-status.ts";
import { desiredReservation } from "../../kubernetes/views/reservation-view.ts";
import { type Moment, momentOf } from "../../shared/advertised-account.ts";
import { reservationIn } from "../../shared/checked.ts";
import { readReservationQuery, reservationLists } from "../lists/reservation-list.ts";
import { signedIn, type UiCall, type UiRoute } from "../route.ts";
import { amountsOf } from "../views/amounts.ts";
import { partiesOf } from "../views/party-view.ts";
import { costSoFar, reservationView } from "../views/reservation-view.ts";
import { timelineOf } from "../views/timeline.ts";
import type { UiContext } from "./context.ts";

/** Additional data for the detail of a reservation. */
interface DetailContext extends Moment {
  readonly ledger: LedgerView;
  readonly ledgerId: string;
  /** Time of the provider's acknowledgement, if known. */
  readonly heldAt: Instant | undefined;
  /** Where brokerctl reaches the broker; null: nowhere. */
  readonly apiURL: string | null;
  /** Of the broker's objects; null while it shows none. */
  readonly objectsNamespace: string | null;
}

const DEFAULT_NAMESPACE = "default";

type CommandLine = UiReservationDetail["commands"][number];

/** Lists, shows and releases reservations. */
export function reservationRoutes({ engine, about, acknowledgementTimes }: UiContext): readonly UiRoute[] {
  const lists = reservationLists(engine);

  const known = (id: string): Reservation => {
    const reservation = engine.ledger.reservations.get(id);
    if (reservation !== undefined) return reservation;
    const message = "no such reservation; ended ones are kept for a day, then forgotten";
    throw new Fault("not-found", message);
  };

  const read = async ({ name, host }: UiCall): Promise<PlainAnswer> => {
    const heldAt = await acknowledgementTimes.find(known(name));
    const { ledger, ledgerId } = engine;
    const detail = reservationDetail(known(name), {
      ...momentOf(engine),
      ledger,
      ledgerId,
      heldAt,
      apiURL: about.apiURL(host),
      objectsNamespace: about.objectsNamespace,
    });
    return ok(detail);
  };

  const release = async (call: UiCall): Promise<PlainAnswer> => {
    const by = { clusterId: signedIn(call).name, isAdmin: true };
    const reservation = reservationIn(await engine.submit({ kind: "release", by, id: call.name }));
    const { id, provider, granted } = reservation;
    const done: UiDone = {
      message: `${id} is released: ${provider} gets ${describeResources(granted)} back when the pods of the reservation have ended.`,
    };
    return ok(done);
  };

  return [
    {
      method: "GET",
      path: "/ui/reservations",
      access: "viewer",
      handle: ({ parameters }) => ok(lists.page(readReservationQuery(parameters))),
    },
    { method: "GET", path: "/ui/reservations/{id}", access: "viewer", handle: read },
    { method: "POST", path: "/ui/reservations/{id}/release", access: "admin", handle: release },
  ];
}

function reservationDetail(reservation: Reservation, context: DetailContext): UiReservationDetail {
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

/** The object that the broker shows, or would show, on its cluster. */
function yamlOf(
  reservation: Reservation,
  { ledger, ledgerId, now, objectsNamespace }: DetailContext,
): string {
  const desired = desiredReservation(reservation, objectsNamespace ?? DEFAULT_NAMESPACE);
  return yamlText({ ...desired, status: reservationStatus(reservation, { ledger, ledgerId, now }) });
}

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
