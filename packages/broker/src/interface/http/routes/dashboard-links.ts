import { dashboardLinkRequestSchema, Fault, LIMIT, PATH } from "@resource-broker/contract";
import { checked } from "../../shared/checked.ts";
import type { Call, PlainAnswer, Route } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** Links that each sign one browser in to the dashboard. */
export function dashboardLinkRoutes({ dashboard }: RouteContext): readonly Route[] {
  const make = ({ caller, body, certificate }: Call): PlainAnswer => {
    const { role = "admin" } = body === undefined ? {} : checked(dashboardLinkRequestSchema, body);
    if (dashboard === undefined) {
      const message = "the dashboard is off: start the broker with --dashboard-bind-address=127.0.0.1:8090";
      throw new Fault("not-found", message);
    }
    const shown = certificate();
    if (shown === undefined) throw new Fault("no-certificate", "the connection was closed meanwhile");
    return { status: 201, body: dashboard.makeLink({ role, by: caller.clusterId, certificate: shown }) };
  };
  return [
    {
      method: "POST",
      path: PATH.dashboardLinks,
      access: "admin",
      body: { limit: LIMIT.bodyBytes, isOptional: true },
      handle: make,
    },
  ];
}
