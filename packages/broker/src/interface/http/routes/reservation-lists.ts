import { Fault } from "@resource-broker/base";
import { HEADER, LIMIT, PATH } from "@resource-broker/contract";
import type { Actor, Reservation, ReservationId } from "@resource-broker/domain";
import { readReservationQuery, reservationLists } from "../../insight/reservation-list.ts";
import { isVisible, renderReservation, roleOf } from "../../shared/render.ts";
import { isWaitingVisible, renderWithPlace } from "../../shared/render-waiting.ts";
import { firstAfter, type Page, type Query, readPage } from "../query.ts";
import { type Call, knowsOfWaiting, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";

type Role = "requester" | "provider";

/** A list with any of these is sorted, filtered and counted. */
const LIST_OPTIONS = ["sort", "order", "q", "phase", "requester", "provider", "cluster", "offset"];

/** Reading reservations. */
export function reservationListRoutes({ engine, renderContext, index }: RouteContext): readonly Route[] {
  const render = (reservation: Reservation, caller: Actor) =>
    renderReservation(renderContext(), reservation, { role: roleOf(caller, reservation) });

  const sortedLists = reservationLists(engine);

  const listSorted = ({ caller, query }: Call): PlainAnswer => {
    const { rows, total } = sortedLists(readReservationQuery(query), (each) => isVisible(caller, each));
    const headers = [HEADER.totalCount, String(total)];
    return { ...ok(rows.map((reservation) => render(reservation, caller))), headers };
  };

  /**
   * The first Go agents name themselves in the query, read an object, know no pages, and act on the phase Reserved only.
   * Whose reservations they get is the certificate's to say, as everywhere.
   */
  const listForFirstAgents = ({ caller: { clusterId } }: Call, role: Role): PlainAnswer => {
    const account = engine.ledger.accounts.get(clusterId);
    const live = [...((role === "requester" ? account?.asRequester : account?.asProvider)?.values() ?? [])];
    const reader = { role, isOlderAgent: true };
    const reservations = live
      .slice(0, LIMIT.instructions)
      .map((reservation) => renderReservation(renderContext(), reservation, reader));
    return ok({ reservations });
  };

  const list = (call: Call): PlainAnswer => {
    const { caller, query } = call;
    if (query.hasAny(LIST_OPTIONS)) return listSorted(call);
    const page = readPage(query);
    const role = readRole(query);
    const isFirstAgent = call.isOlderAgent && query.one("clusterID") !== undefined;
    if (isFirstAgent && role !== undefined) return listForFirstAgents(call, role);
    const ids = firstAfter(idsFor(caller, role), page.after, page.limit + 1);
    const shown = ids.slice(0, page.limit);
    const body = shown.flatMap((id) => {
      const reservation = engine.ledger.reservations.get(id);
      return reservation === undefined ? [] : [render(reservation, caller)];
    });
    const last = ids.length > page.limit ? shown.at(-1) : undefined;
    return last === undefined
      ? ok(body)
      : { ...ok(body), headers: [HEADER.link, nextLink(last, page, role)] };
  };

  /** Admins see all; with a role they, too, see only their own. */
  function* idsFor(caller: Actor, role: Role | undefined): Generator<ReservationId> {
    const { reservations } = engine.ledger;
    if (caller.isAdmin && role === undefined) {
      yield* reservations.keys();
      return;
    }
    for (const id of index.idsOf(caller.clusterId)) {
      const reservation = reservations.get(id);
      if (reservation === undefined) continue;
      if (role === undefined || reservation[role] === caller.clusterId) yield id;
    }
  }

  const read = (call: Call): PlainAnswer => {
    const { caller, name } = call;
    const { reservations, waiting } = engine.ledger;
    const entry = waiting.byId.get(name);
    if (entry !== undefined && isWaitingVisible(caller, entry) && knowsOfWaiting(call))
      return ok(renderWithPlace(engine, entry, caller));
    const reservation = reservations.get(name);
    if (reservation === undefined || !isVisible(caller, reservation)) {
      throw new Fault("not-found", "no such reservation that you are party to");
    }
    return ok(render(reservation, caller));
  };

  return [
    { method: "GET", path: PATH.reservations, access: "cluster", handle: list },
    { method: "GET", path: template(PATH.reservation, "id"), access: "cluster", handle: read },
  ];
}

function readRole(query: Query): Role | undefined {
  const role = query.one("role");
  if (role === undefined || role === "requester" || role === "provider") return role;
  throw new Fault("invalid", "role must be requester or provider; leave it out for both");
}

function nextLink(last: ReservationId, { limit }: Page, role: Role | undefined): string {
  const parameters = new URLSearchParams({
    ...(role === undefined ? {} : { role }),
    limit: String(limit),
    after: last,
  });
  return `<${PATH.reservations}?${parameters.toString()}>; rel="next"`;
}
