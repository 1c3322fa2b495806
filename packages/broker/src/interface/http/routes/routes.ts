import type { RouteContext } from "./context.ts";
import type { Route } from "../route.ts";
import { adoptionRoutes } from "./adoptions.ts";
import { advertisementRoutes, instructionRoutes } from "./advertisements.ts";
import { clusterRoutes, dashboardLinkRoutes, healthRoutes, policyRoutes } from "./clusters.ts";
import { auditRoutes, insightRoutes } from "./insight.ts";
import { joinRoutes } from "./join.ts";
import { memberRoutes } from "./members.ts";
import { peerRoutes } from "./peers.ts";
import { queueRoutes } from "./queue.ts";
import { decisionRoutes, quoteRoutes } from "./quotes.ts";
import { reservationListRoutes } from "./reservation-lists.ts";
import { reservationRoutes } from "./reservations.ts";

/** Every call of the interface, in one table: tests walk it. */
export function allRoutes(context: RouteContext): readonly Route[] {
  return [
    ...advertisementRoutes(context),
    ...reservationRoutes(context),
    ...reservationListRoutes(context),
    ...queueRoutes(context),
    ...decisionRoutes(context),
    ...quoteRoutes(context),
    ...instructionRoutes(context),
    ...adoptionRoutes(context),
    ...clusterRoutes(context),
    ...joinRoutes(context),
    ...memberRoutes(context),
    ...peerRoutes(context),
    ...auditRoutes(context),
    ...insightRoutes(context),
    ...policyRoutes(context),
    ...dashboardLinkRoutes(context),
    ...healthRoutes(context),
  ];
}
