import { formatTime, fromPolicy, PATH, type PolicyReplyDTO } from "@resource-broker/contract";
import { ok, type PlainAnswer, type Route } from "../route.ts";
import type { RouteContext } from "./context.ts";

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
