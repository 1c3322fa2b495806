import { EXIT } from "@resource-broker/runtime";
import { StoreFailure } from "./store/store.ts";

/** Flags that choose a port, for the remedy when one is taken. */
export const PORT_FLAGS = [
  "http-port",
  "metrics-bind-address",
  "health-probe-bind-address",
  "dashboard-bind-address",
];

export function exitCodeOf(error: unknown): number {
  return error instanceof StoreFailure && error.kind === "corrupt" ? EXIT.corrupt : EXIT.failure;
}
