import { Fault } from "@resource-broker/base";
import { cordonRequestSchema } from "@resource-broker/contract";
import type { UiDone, UiResource } from "@resource-broker/contract/dashboard";
import { ok, type PlainAnswer } from "../../http/route.ts";
import { hasAdvertised, momentOf } from "../../shared/advertised-account.ts";
import { checked, faultOf } from "../../shared/checked.ts";
import { clusterPage, readClusterQuery } from "../lists/cluster-list.ts";
import { oneOf } from "../lists/list-query.ts";
import { signedIn, type UiCall, type UiRoute } from "../route.ts";
import { clusterView } from "../views/cluster-view.ts";
import { flowView } from "../views/flow-view.ts";
import type { UiContext } from "./context.ts";

const RESOURCES: readonly UiResource[] = ["cpu", "memory", "gpu"];

/** Clusters, and the flows between providers and requesters. */
export function fleetRoutes({ engine }: UiContext): readonly UiRoute[] {
  const list = ({ parameters }: UiCall): PlainAnswer => {
    const query = readClusterQuery(parameters);
    return ok(clusterPage(engine.ledger, { query, moment: momentOf(engine), commit: engine.commitNumber }));
  };

  const read = ({ name }: UiCall): PlainAnswer => {
    const account = engine.ledger.accounts.get(name);
    if (!hasAdvertised(account)) throw new Fault("not-found", "this cluster has not advertised here");
    return ok(clusterView(account, momentOf(engine)));
  };

  const flows = ({ parameters }: UiCall): PlainAnswer => {
    const resource = oneOf(parameters, "resource", RESOURCES) ?? "cpu";
    return ok(flowView(engine.ledger, momentOf(engine), { resource, commit: engine.commitNumber }));
  };

  const set = async (call: UiCall, kind: "cordon" | "uncordon", why?: string): Promise<PlainAnswer> => {
    const { name } = call;
    const by = { clusterId: signedIn(call).name, isAdmin: true };
    const reply = await engine.submit({ kind, by, clusterId: name, ...(why === undefined ? {} : { why }) });
    if (reply.kind !== "cordon-set") throw faultOf(reply);
    const done: UiDone = {
      message: reply.isCordoned
        ? `${name} is cordoned: it gets no new reservations; existing ones stay.`
        : `${name} is uncordoned.`,
    };
    return ok(done);
  };

  const cordon = (call: UiCall): Promise<PlainAnswer> => {
    const { body } = call;
    return set(call, "cordon", body === undefined ? undefined : checked(cordonRequestSchema, body).reason);
  };

  return [
    { method: "GET", path: "/ui/clusters", access: "viewer", handle: list },
    { method: "GET", path: "/ui/clusters/{id}", access: "viewer", handle: read },
    { method: "POST", path: "/ui/clusters/{id}/cordon", access: "admin", handle: cordon },
    {
      method: "POST",
      path: "/ui/clusters/{id}/uncordon",
      access: "admin",
      handle: (call) => set(call, "uncordon"),
    },
    { method: "GET", path: "/ui/flows", access: "viewer", handle: flows },
  ];
}
