import { Fault } from "@resource-broker/base";
import {
  acknowledgementSchema,
  type AdvertisementDTO,
  type AdvertisementPageDTO,
  type AdvertisementReplyDTO,
  advertisementSchema,
  fromAdvertisement,
  LIMIT,
  PATH,
  toAdvertisement,
} from "@resource-broker/contract";
import { type ClusterId, MAX_RESERVATIONS_PER_PROVIDER } from "@resource-broker/domain";
import { clusterPage, readClusterQuery } from "../../insight/cluster-list.ts";
import { renderCluster } from "../../insight/standing.ts";
import { hasAdvertised, momentOf } from "../../shared/advertised-account.ts";
import { checked, faultOf, reservationIn, valueOf, withoutIncompleteCost } from "../../shared/checked.ts";
import { renderInstructions, renderReservation, roleOf } from "../../shared/render.ts";
import { firstAfter, readPage, readSwitch } from "../query.ts";
import { type Answer, type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** A list with any of these is sorted, filtered and counted. */
const LIST_OPTIONS = ["sort", "order", "q", "state", "offset"];

export function advertisementRoutes({ engine, renderContext, hub, log }: RouteContext): readonly Route[] {
  /** Clusters whose incomplete price was logged already. */
  const warnedUnpriced = new Set<ClusterId>();

  const advertise = async (call: Call): Promise<PlainAnswer> => {
    const { caller, isOlderAgent, protocol } = call;
    const body = withoutIncompleteCost(call.body);
    const dto = checked(advertisementSchema, body);
    if (dto.clusterID !== caller.clusterId) {
      throw new Fault(
        "forbidden",
        `clusterID is ${dto.clusterID}, but the certificate is of ${caller.clusterId}`,
      );
    }
    if (body !== call.body && !warnedUnpriced.has(caller.clusterId)) {
      warnedUnpriced.add(caller.clusterId);
      log.warn(
        { cluster: caller.clusterId },
        "an incomplete price is ignored: the cluster is treated as one without a price",
      );
    }
    const advertisement = valueOf(toAdvertisement(dto, protocol));
    const reply = await engine.submit({ kind: "advertise", advertisement });
    if (reply.kind !== "advertised") throw faultOf(reply);
    hub.capacityMayHaveChanged(caller.clusterId);
    const instructions = renderInstructions(
      renderContext(),
      { clusterId: caller.clusterId, isOlderAgent },
      MAX_RESERVATIONS_PER_PROVIDER,
    );
    const accepted: AdvertisementReplyDTO = {
      advertisement: render(caller.clusterId) ?? dto,
      ...(instructions.length === 0 ? {} : { providerInstructions: instructions }),
    };
    return ok(accepted);
  };

  const render = (clusterId: ClusterId): AdvertisementDTO | undefined => {
    const account = engine.ledger.accounts.get(clusterId);
    return account?.advertisement && fromAdvertisement(account.advertisement, account);
  };

  const renderWithState = (clusterId: ClusterId): AdvertisementDTO | undefined => {
    const account = engine.ledger.accounts.get(clusterId);
    return hasAdvertised(account) ? renderCluster(account, momentOf(engine)) : undefined;
  };

  const read = ({ caller, name, isOlderAgent }: Call): PlainAnswer => {
    if (name !== caller.clusterId && !caller.isAdmin) {
      throw new Fault("forbidden", `${caller.clusterId} may read its own advertisement only`);
    }
    const advertisement = isOlderAgent ? render(name) : renderWithState(name);
    if (advertisement === undefined) throw new Fault("not-found", "this cluster has not advertised here");
    return ok(advertisement);
  };

  const list = ({ query }: Call): PlainAnswer => {
    if (query.hasAny(LIST_OPTIONS))
      return ok(clusterPage(engine.ledger, readClusterQuery(query), momentOf(engine)));
    const { after, limit } = readPage(query);
    const names = firstAfter(clusterIds(), after, limit + 1);
    const items = names.slice(0, limit).flatMap((name) => renderWithState(name) ?? []);
    const next = names.length > limit ? names[limit - 1] : undefined;
    const page: AdvertisementPageDTO = { items, ...(next === undefined ? {} : { next }) };
    return ok(page);
  };

  function* clusterIds(): Generator<ClusterId> {
    for (const { clusterId } of engine.ledger.candidateTable.candidates) yield clusterId;
  }

  return [
    {
      method: "POST",
      path: PATH.advertisements,
      access: "cluster",
      body: { limit: LIMIT.advertisementBodyBytes },
      handle: advertise,
    },
    { method: "GET", path: PATH.advertisements, access: "admin", handle: list },
    { method: "GET", path: template(PATH.advertisement, "clusterID"), access: "cluster", handle: read },
  ];
}

/** Instructions for providers, and their acknowledgements. */
export function instructionRoutes({ engine, renderContext, hub }: RouteContext): readonly Route[] {
  const list = ({ caller, query, headers, isOlderAgent, protocol }: Call): Answer => {
    const { clusterId, isAdmin } = caller;
    if (!readSwitch(query, "watch")) {
      return ok(renderInstructions(renderContext(), { clusterId, isOlderAgent }, LIMIT.instructions));
    }
    const stated = headers["last-event-id"];
    const lastEventId = stated === undefined ? undefined : String(stated);
    return {
      stream: (response) => hub.open(response, { clusterId, isAdmin, isOlderAgent, protocol, lastEventId }),
    };
  };

  const acknowledge = async ({ caller, name, body }: Call): Promise<PlainAnswer> => {
    const { state, reason } = checked(acknowledgementSchema, body);
    const about = { by: caller, id: name };
    const reply = await engine.submit(
      state === "held"
        ? { kind: "acknowledge", ...about }
        : { kind: "refuse", ...about, why: reason ?? "the provider gave no reason" },
    );
    const reservation = reservationIn(reply);
    return ok(renderReservation(renderContext(), reservation, { role: roleOf(caller, reservation) }));
  };

  return [
    { method: "GET", path: PATH.instructions, access: "cluster", handle: list },
    {
      method: "POST",
      path: template(PATH.acknowledge, "id"),
      access: "cluster",
      body: { limit: LIMIT.bodyBytes },
      handle: acknowledge,
    },
  ];
}
