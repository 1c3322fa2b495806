import { type Clock, Fault } from "@resource-broker/base";
import { type CallSender, dashboardLinkCall } from "@resource-broker/client";
import type { OnUpdate } from "./update.ts";

/** A link works for two minutes: the one on the screen is replaced in time. */
const RENEW_AFTER_MS = 90_000;

export interface DashboardLinkOptions {
  readonly admin: CallSender;
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
    const { value } = await admin.request(dashboardLinkCall()).catch((error: unknown) => {
      throw error instanceof Fault
        ? new Error(`the broker answered ${error.status} when asked for a link to its dashboard`)
        : error;
    });
    publishedAt = clock.monotonicMs();
    const { url, expiresAt } = value;
    onUpdate({ kind: "dashboard", dashboard: { url, expiresAt, command } });
  };
}
