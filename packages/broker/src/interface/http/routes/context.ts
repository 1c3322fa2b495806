import type { FailureLog } from "../../../enrollment/failure-log.ts";
import type { Insight } from "../../insight/insight.ts";
import type { IdMaker } from "../../shared/make-ids.ts";
import type { RenderContext } from "../../shared/render.ts";
import type { RateLimit } from "../authorize.ts";
import type { EnrollmentRate } from "../enrollment-rate.ts";
import type { ApiDeps, HttpLimits } from "../ports.ts";
import type { ReservationIndex } from "../reservation-index.ts";
import type { Statements } from "../statements/statements.ts";
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
    | "joining"
  > {
  readonly renderContext: () => RenderContext;
  readonly ids: IdMaker;
  readonly index: ReservationIndex;
  readonly hub: StreamHub;
  readonly insight: Insight;
  readonly limits: HttpLimits;
  readonly takeEnrollment: EnrollmentRate;
  readonly enrollmentFailures: Pick<FailureLog, "note">;
  /** Certificates that clusters renew. */
  readonly renewals: RateLimit;
  readonly statements: Statements;
}
