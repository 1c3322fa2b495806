import type { Log } from "@resource-broker/base";
import type { IdMaker } from "../../shared/make-ids.ts";
import type { RenderContext } from "../../shared/render.ts";
import type { HttpDeps } from "../ports.ts";
import type { ReservationIndex } from "../reservation-index.ts";
import type { StreamHub } from "../stream/stream-hub.ts";

/** What the routes work with. */
export interface RouteContext
  extends Pick<HttpDeps, "engine" | "store" | "openApi" | "policyOrigin" | "metrics" | "dashboard"> {
  readonly log: Log;
  readonly renderContext: () => RenderContext;
  readonly ids: IdMaker;
  readonly index: ReservationIndex;
  readonly hub: StreamHub;
}
