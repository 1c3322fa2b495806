import type { SchemaNode } from "../../src/schema/node.ts";
import { ADMIN_ROUTES } from "./admin-routes.ts";
import { AGENT_ROUTES } from "./agent-routes.ts";
import { INSIGHT_ROUTES } from "./insight-routes.ts";
import { JOIN_ROUTES } from "./join-routes.ts";
import type { Route } from "./route.ts";

export const ROUTES: readonly Route[] = [...AGENT_ROUTES, ...ADMIN_ROUTES, ...JOIN_ROUTES, ...INSIGHT_ROUTES];

/** What the calls take and answer. */
export function bodySchemas(): SchemaNode[] {
  return ROUTES.flatMap(({ body, reply, otherReplies = [] }) =>
    [body, reply.body, ...otherReplies.map((other) => other.body)].flatMap((each) =>
      each === undefined ? [] : [each.schema, ...(each.otherSchema === undefined ? [] : [each.otherSchema])],
    ),
  );
}
