import { formatTime } from "@resource-broker/base";
import { fromPolicy, PATH, type PolicyReplyDTO } from "@resource-broker/contract";
import { ok, type PlainAnswer, type Route } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** Routes that need no ledger: health and the OpenAPI document. */
export function healthRoutes({ openApi }: Pick<RouteContext, "openApi">): readonly Route[] {
  const alive = (): PlainAnswer => ({
    status: 200,
    text: { type: "text/plain; charset=utf-8", content: "ok" },
  });
  return [
    { method: "GET", path: PATH.health, access: "anyone", handle: alive },
    { method: "HEAD", path: PATH.health, access: "anyone", handle: alive },
    {
      method: "GET",
      path: PATH.openapi,
      access: "cluster",
      handle: () => ({ status: 200, text: { type: "application/json", content: openApi } }),
    },
  ];
}

/** The rules in force. */
export function policyRoutes({ engine, policyOrigin }: RouteContext): readonly Route[] {
  const read = (): PlainAnswer => {
    const { source, loadedAt, sliceDefaults } = policyOrigin();
    const answer: PolicyReplyDTO = {
      version: engine.policy.version,
      source,
      ...(loadedAt === undefined ? {} : { loadedAt: formatTime(loadedAt) }),
      policy: fromPolicy(engine.policy, sliceDefaults),
    };
    return ok(answer);
  };
  return [{ method: "GET", path: PATH.policy, access: "admin", handle: read }];
}
