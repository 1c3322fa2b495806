import type { Engine } from "../../../engine/engine.ts";
import type { AcknowledgementTimes } from "../audit/acknowledgement-times.ts";
import type { AuditTail } from "../audit/audit-tail.ts";
import type { ChainCheck } from "../audit/chain-check.ts";
import type { History } from "../history/history.ts";
import type { LiveHub } from "../live/live-hub.ts";
import type { RecentDecisions } from "../live/recent-decisions.ts";
import type { MeanPrices } from "../mean-prices.ts";
import type { DashboardDeps, DashboardOptions } from "../ports.ts";
import type { SessionCookie } from "../session/cookie.ts";
import type { Links } from "../session/links.ts";
import type { Sessions } from "../session/sessions.ts";

/** What the routes work with. */
export interface UiContext extends Pick<DashboardDeps, "store" | "log"> {
  readonly engine: Engine;
  readonly links: Links;
  readonly sessions: Sessions;
  readonly cookie: SessionCookie;
  readonly about: About;
  readonly decisions: RecentDecisions;
  readonly hub: LiveHub;
  readonly history: History;
  readonly auditTail: AuditTail;
  readonly chainCheck: ChainCheck;
  readonly acknowledgementTimes: AcknowledgementTimes;
  readonly meanPrices: MeanPrices;
}

/** What the dashboard knows of where it runs. */
export interface About extends Pick<DashboardOptions, "version"> {
  readonly objectsNamespace: string | null;
  /** Where brokerctl reaches the broker, for somebody who reached the dashboard by this name. */
  readonly apiURL: (host: string) => string | null;
}
