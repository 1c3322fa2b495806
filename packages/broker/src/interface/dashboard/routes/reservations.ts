import { Fault, type UiDone } from "@resource-broker/contract";
import { describeResources, type Reservation } from "@resource-broker/domain";
import { reservationIn } from "../../shared/checked.ts";
import { ok, type PlainAnswer } from "../../http/route.ts";
import { readReservationQuery, reservationLists } from "../lists/reservation-list.ts";
import { signedIn, type UiCall, type UiRoute } from "../route.ts";
import { reservationDetail } from "../views/reservation-detail.ts";
import type { UiContext } from "./context.ts";
import { momentOf } from "./moment-of.ts";

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
