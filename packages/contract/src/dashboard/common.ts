/**
 * Messages between the dashboard and the broker under `/ui/`. Both are built and shipped together, so these are plain types.
 * The broker still validates input from the browser. All amounts are numbers in base units.
 */

/** CPU in cores, memory in bytes, GPUs in pieces. */
export interface UiAmounts {
  readonly cpu: number;
  readonly memory: number;
  readonly gpu: number;
}

export type UiResource = keyof UiAmounts;

/** RFC 3339, by the broker's clock. */
export type UiTime = string;

/** An amount of money in the policy's currency. */
export interface UiMoney {
  readonly amount: number;
  readonly currency: string;
}

export interface UiPage<Row> {
  readonly rows: readonly Row[];
  /** How many rows match the filter, on all pages. */
  readonly total: number;
  /** Of the first row here. */
  readonly offset: number;
  /** The commit it was read at: events up to this one are in it. */
  readonly commit: number;
}

/** Every error of `/ui/`, with the codes of the public API. */
export interface UiError {
  readonly error: string;
  readonly code: string;
}
