import { acknowledgementSchema, LIMIT, PATH } from "@resource-broker/contract";
import { checked, reservationIn } from "../../shared/checked.ts";
import { renderInstructions, renderReservation, roleOf } from "../../shared/render.ts";
import { readSwitch } from "../query.ts";
import { type Answer, type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** Instructions for providers, and their acknowledgements. */
export function instructionRoutes({ engine, renderContext, hub }: RouteContext): readonly Route[] {
  const list = ({ caller, query, headers, isOlderAgent }: Call): Answer => {
    const { clusterId } = caller;
    if (!readSwitch(query, "watch")) {
      return ok(renderInstructions(renderContext(), { clusterId, isOlderAgent }, LIMIT.instructions));
    }
    const stated = headers["last-event-id"];
    const lastEventId = stated === undefined ? undefined : String(stated);
    return { stream: (response) => hub.open(response, { clusterId, isOlderAgent, lastEventId }) };
  };

  const acknowledge = async ({ caller, name, body }: Call): Promise<PlainAnswer> => {
    const { state, reason } = checked(acknowledgementSchema, body);
    const about = { by: caller, id: name };
    const reply = await engine.submit(
      state === "held"
        ? { kind: "acknowledge", ...about }
        : { kind: "refuse", ...about, why: reason ?? "the provider gave no reason" },
    );
    const reservation = reservationIn(reply);
    return ok(renderReservation(renderContext(), reservation, { role: roleOf(caller, reservation) }));
  };

  return [
    { method: "GET", path: PATH.instructions, access: "cluster", handle: list },
    {
      method: "POST",
      path: template(PATH.acknowledge, "id"),
      access: "cluster",
      body: { limit: LIMIT.bodyBytes },
      handle: acknowledge,
    },
  ];
}
