import { Fault } from "@resource-broker/base";
import { type ClusterId, isClusterId } from "@resource-broker/domain";
import type { Call } from "../route.ts";
import type { RouteContext } from "./context.ts";

const PARAMETER = "requester";

/**
 * The cluster that a call is made for: the caller, or the cluster that an admin names. An admin is not a cluster: nobody
 * would use or release its reservation. An agent may have an admin's certificate; its cluster has advertised.
 */
export function requesterOf(
  { caller, query }: Call,
  context: Pick<RouteContext, "renderContext">,
): ClusterId {
  const named = query.one(PARAMETER);
  if (!caller.isAdmin && named !== undefined && named !== caller.clusterId) {
    throw new Fault("forbidden", `only an admin may ask for another cluster; leave ?${PARAMETER}= out`);
  }
  const requester = named ?? caller.clusterId;
  if (!caller.isAdmin || hasAdvertised(requester, context)) return requester;
  if (named === undefined) {
    throw new Fault(
      "invalid",
      `${caller.clusterId} is an admin, not a cluster: name the cluster with ?${PARAMETER}=<cluster-id> (brokerctl: --for)`,
    );
  }
  throw new Fault(
    "invalid",
    `${PARAMETER}: no cluster ${JSON.stringify(named)} has advertised here; GET /api/v1/advertisements lists those that have`,
  );
}

function hasAdvertised(id: string, { renderContext }: Pick<RouteContext, "renderContext">): id is ClusterId {
  return isClusterId(id) && renderContext().ledger.accounts.get(id)?.advertisement !== undefined;
}
