import type { Clock } from "@resource-broker/base";
import { dashboardLinkSchema, PATH, validate } from "@resource-broker/contract";
import type { BrokerClient } from "@resource-broker/testkit";
import type { OnUpdate } from "./update.ts";

/** A link works for two minutes: the one on the screen is replaced in time. */
const RENEW_AFTER_MS = 90_000;

export interface DashboardLinkOptions {
  readonly admin: Pick<BrokerClient, "request">;
  /** What prints another link. */
  readonly command: string;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly onUpdate: OnUpdate;
}

/** Tells a link to the dashboard, and a new one before the last is too old. To be called again and again. */
export function dashboardLinks({
  admin,
  command,
  clock,
  onUpdate,
}: DashboardLinkOptions): () => Promise<void> {
  let publishedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.monotonicMs() - publishedAt < RENEW_AFTER_MS) return;
    const { status, body } = await admin.request("POST", PATH.dashboardLinks, { body: {} });
    const link = validate(dashboardLinkSchema, body);
    if (!link.ok) throw new Error(`the broker answered ${status} when asked for a link to its dashboard`);
    publishedAt = clock.monotonicMs();
    const { url, expiresAt } = link.value;
    onUpdate({ kind: "dashboard", dashboard: { url, expiresAt, command } });
  };
}
