import type { UiAmounts, UiTime } from "./common.ts";

export const HISTORY_WINDOWS = ["hour", "day", "week"] as const;
export type HistoryWindow = (typeof HISTORY_WINDOWS)[number];

/**
 * `GET /ui/history?window=&cluster=`: without a cluster, of the fleet. Points are evenly spaced, oldest first; a point is null
 * where the broker did not run or did not know the cluster.
 */
export interface UiHistory {
  readonly window: HistoryWindow;
  /** Time of the first point. */
  readonly from: UiTime;
  readonly stepMs: number;
  readonly points: readonly ({
    readonly available: UiAmounts;
    readonly reserved: UiAmounts;
    readonly allocatable: UiAmounts;
  } | null)[];
}

/** `GET /ui/unmet?window=`: refused requests, by the reason that most clusters had. */
export interface UiUnmet {
  readonly window: HistoryWindow;
  readonly from: UiTime;
  readonly stepMs: number;
  readonly granted: readonly number[];
  readonly refused: readonly { readonly reason: string; readonly counts: readonly number[] }[];
}

/** `GET /ui/money?window=`: what was spent in the window by live and ended reservations, for the time they held. */
export interface UiMoneyReport {
  readonly window: HistoryWindow;
  readonly currency: string;
  readonly spent: number;
  /** Against the mean price of the clusters that fitted, for the same time. */
  readonly saved: number;
  readonly byRequester: readonly UiSpend[];
  readonly byProvider: readonly UiSpend[];
  /** Reservations without a price. */
  readonly unpriced: number;
}
export interface UiSpend {
  readonly id: string;
  readonly spent: number;
  readonly saved: number;
  readonly reservations: number;
}

/** `GET /ui/audit?before=&limit=&q=`: the newest first; `before` is a sequence number. */
export interface UiAudit {
  readonly rows: readonly UiAuditRow[];
  /** Ask for the page before this sequence number; null: the log begins here. */
  readonly before: number | null;
  readonly verified: UiVerified;
}
export interface UiAuditRow {
  readonly sequence: number;
  readonly at: UiTime;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly message: string;
  readonly hash: string;
}

/** The hash chain, checked in the background while the dashboard is looked at. */
export type UiVerified =
  | { readonly state: "whole"; readonly lines: number; readonly at: UiTime }
  | { readonly state: "checking"; readonly lines: number }
  | { readonly state: "broken"; readonly sequence: number; readonly message: string; readonly at: UiTime }
  /** The Kubernetes store keeps no chain. */
  | { readonly state: "none"; readonly message: string };
