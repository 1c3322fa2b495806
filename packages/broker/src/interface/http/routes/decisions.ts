import { Fault, fromDecision, PATH } from "@resource-broker/contract";
import { type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** Why the broker decided as it did. */
export function decisionRoutes({ engine, store }: RouteContext): readonly Route[] {
  const read = async ({ caller, name }: Call): Promise<PlainAnswer> => {
    const decision = await store.findDecision(name);
    if (decision === undefined || (decision.requester !== caller.clusterId && !caller.isAdmin)) {
      throw new Fault(
        "not-found",
        "no such decision about a request of yours, or it was not recorded (docs/limits.md)",
      );
    }
    return ok(fromDecision(decision, caller.isAdmin ? "full" : engine.policy.disclosure));
  };
  return [{ method: "GET", path: template(PATH.decision, "id"), access: "cluster", handle: read }];
}
