import type { Insight } from "../../insight/insight.ts";
import type { IdMaker } from "../../shared/make-ids.ts";
import type { RenderContext } from "../../shared/render.ts";
import type { ApiDeps } from "../ports.ts";
import type { ReservationIndex } from "../reservation-index.ts";
import type { StreamHub } from "../stream/stream-hub.ts";

/** What the routes work with. */
export interface RouteContext
  extends Pick<
    ApiDeps,
    | "engine"
    | "log"
    | "store"
    | "openApi"
    | "policyOrigin"
    | "metrics"
    | "dashboard"
    | "auditChain"
    | "objectsNamespace"
  > {
  readonly renderContext: () => RenderContext;
  readonly ids: IdMaker;
  readonly index: ReservationIndex;
  readonly hub: StreamHub;
  readonly insight: Insight;
}
