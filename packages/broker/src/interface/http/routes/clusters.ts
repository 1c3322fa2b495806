import { Fault, formatTime } from "@resource-broker/base";
import {
  type CordonReplyDTO,
  cordonRequestSchema,
  type DrainReplyDTO,
  dashboardLinkRequestSchema,
  drainRequestSchema,
  fromPolicy,
  LIMIT,
  PATH,
  toMilliseconds,
  type PolicyReplyDTO,
} from "@resource-broker/contract";
import { checked, faultOf } from "../../shared/checked.ts";
import { type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** Cordons, uncordons and drains clusters. */
export function clusterRoutes({ engine, hub }: RouteContext): readonly Route[] {
  const reasonOf = (name: string): { readonly reason?: string } => {
    const reason = engine.ledger.accounts.get(name)?.cordon?.why;
    return reason === undefined ? {} : { reason };
  };

  const set = async (call: Call, kind: "cordon" | "uncordon", why?: string): Promise<PlainAnswer> => {
    const { caller, name } = call;
    const command = { kind, by: caller, clusterId: name, ...(why === undefined ? {} : { why }) };
    const reply = await engine.submit(command);
    if (reply.kind !== "cordon-set") throw faultOf(reply);
    hub.capacityMayHaveChanged(name);
    const answer: CordonReplyDTO = { clusterID: name, cordoned: reply.isCordoned, ...reasonOf(name) };
    return ok(answer);
  };

  const drain = async ({ caller, name, body }: Call): Promise<PlainAnswer> => {
    const { reason: why, grace } = body === undefined ? {} : checked(drainRequestSchema, body);
    const reply = await engine.submit({
      kind: "drain",
      by: caller,
      clusterId: name,
      ...(why === undefined ? {} : { why }),
      ...(grace === undefined ? {} : { graceMs: toMilliseconds(grace) }),
    });
    if (reply.kind !== "draining") throw faultOf(reply);
    hub.capacityMayHaveChanged(name);
    const { noticed, untold } = reply;
    const answer: DrainReplyDTO = { clusterID: name, cordoned: true, ...reasonOf(name), noticed, untold };
    return ok(answer);
  };

  const cordon = (call: Call): Promise<PlainAnswer> =>
    set(call, "cordon", call.body === undefined ? undefined : checked(cordonRequestSchema, call.body).reason);

  return [
    {
      method: "POST",
      path: template(PATH.cordon, "clusterID"),
      access: "admin",
      body: { limit: LIMIT.bodyBytes, isOptional: true },
      handle: cordon,
    },
    {
      method: "POST",
      path: template(PATH.uncordon, "clusterID"),
      access: "admin",
      handle: (call) => set(call, "uncordon"),
    },
    {
      method: "POST",
      path: template(PATH.drain, "clusterID"),
      access: "admin",
      body: { limit: LIMIT.bodyBytes, isOptional: true },
      handle: drain,
    },
  ];
}

/** Links that each sign one browser in to the dashboard. */
export function dashboardLinkRoutes({ dashboard }: RouteContext): readonly Route[] {
  const make = ({ caller, body, certificate }: Call): PlainAnswer => {
    const { role = "admin" } = body === undefined ? {} : checked(dashboardLinkRequestSchema, body);
    if (dashboard === undefined) {
      const message = "the dashboard is off: start the broker with --dashboard-bind-address=127.0.0.1:8090";
      throw new Fault("not-found", message);
    }
    const shown = certificate();
    if (shown === undefined)
      throw new Fault("no-certificate", "a link is made with an admin's certificate, on the API's own port");
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
