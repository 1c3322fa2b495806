import type { UiRoute } from "../route.ts";
import type { UiContext } from "./context.ts";
import { decisionRoutes } from "./decisions.ts";
import { fleetRoutes } from "./fleet.ts";
import { auditRoutes, insightRoutes } from "./insight.ts";
import { reservationRoutes } from "./reservations.ts";
import { eventRoutes, sessionRoutes } from "./session.ts";

/** Every call under `/ui/`, in one table: tests walk it. */
export function uiRoutes(context: UiContext): readonly UiRoute[] {
  return [
    ...sessionRoutes(context),
    ...fleetRoutes(context),
    ...reservationRoutes(context),
    ...decisionRoutes(context),
    ...insightRoutes(context),
    ...auditRoutes(context),
    ...eventRoutes(context),
  ];
}
