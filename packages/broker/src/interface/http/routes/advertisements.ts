import { Fault, formatTime, isZero } from "@resource-broker/base";
import {
  type AdvertisementDTO,
  type AdvertisementPageDTO,
  type AdvertisementReplyDTO,
  advertisementSchema,
  fromAdvertisement,
  LIMIT,
  PATH,
  toAdvertisement,
  toQuantities,
} from "@resource-broker/contract";
import {
  type AccountView,
  type ClusterId,
  type Cordon,
  MAX_RESERVATIONS_PER_PROVIDER,
} from "@resource-broker/domain";
import { checked, faultOf, valueOf, withoutIncompleteCost } from "../../shared/checked.ts";
import { renderInstructions } from "../../shared/render.ts";
import { firstAfter } from "../first-after.ts";
import { readPage } from "../query.ts";
import { type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";

const CURRENT_PROTOCOL = 2;
const OLDER_PROTOCOL = 1;

export function advertisementRoutes({ engine, renderContext, hub, log }: RouteContext): readonly Route[] {
  /** Clusters whose incomplete price was logged already. */
  const warnedUnpriced = new Set<ClusterId>();

  const advertise = async (call: Call): Promise<PlainAnswer> => {
    const { caller, isOlderAgent } = call;
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
    const protocol = isOlderAgent ? OLDER_PROTOCOL : CURRENT_PROTOCOL;
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
    const advertisement = render(clusterId);
    const account = engine.ledger.accounts.get(clusterId);
    return advertisement && account && { ...advertisement, standing: stateOf(account) };
  };

  const stateOf = ({ receivedAt, cordon, withheld }: AccountView): StateDTO => ({
    receivedAt: formatTime(receivedAt),
    isStale: engine.now() - receivedAt > engine.policy.stalenessMs,
    ...(cordon === undefined ? {} : { cordon: cordonOf(cordon) }),
    ...(isZero(withheld) ? {} : { withheld: toQuantities(withheld) }),
  });

  const read = ({ caller, name, isOlderAgent }: Call): PlainAnswer => {
    if (name !== caller.clusterId && !caller.isAdmin) {
      throw new Fault("forbidden", `${caller.clusterId} may read its own advertisement only`);
    }
    const advertisement = isOlderAgent ? render(name) : renderWithState(name);
    if (advertisement === undefined) throw new Fault("not-found", "this cluster has not advertised here");
    return ok(advertisement);
  };

  const list = ({ query }: Call): PlainAnswer => {
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

type StateDTO = NonNullable<AdvertisementDTO["standing"]>;

function cordonOf({ by, at, why }: Cordon): NonNullable<StateDTO["cordon"]> {
  return { by, at: formatTime(at), ...(why === undefined ? {} : { reason: why }) };
}
