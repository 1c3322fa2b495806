/** What a machine offers: a wall clock that may jump and a monotonic one that does not. */
export interface MachineTime {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  /** Calls back once after the delay; the returned function takes it back. */
  readonly after: (delayMs: number, action: () => void) => () => void;
}
