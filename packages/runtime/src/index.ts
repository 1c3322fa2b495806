export type { Log, LogFields } from "./log.ts";
export type { MachineTime } from "./machine-time.ts";
