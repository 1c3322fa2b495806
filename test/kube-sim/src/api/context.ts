import type { Store } from "../store/store.ts";
import type { Registry } from "./registry.ts";

/** What every verb works on. */
export interface ApiContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly wallMs: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

/** `2026-01-05T12:00:00Z`: metadata knows no fractions of a second. */
export function timestamp(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}
