import type { Clock } from "@resource-broker/base";

/** A watch or a stream that waits for the next event. */
export interface Waiting {
  wake: () => void;
}

/** Resolves when it is woken or aborted, or with true when nothing happened for so long. */
export function woken(
  line: Waiting,
  { clock, idleMs, signal }: { clock: Clock; idleMs: number; signal: AbortSignal | undefined },
): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isTime: boolean): void => {
      cancel();
      signal?.removeEventListener("abort", wake);
      resolve(isTime);
    };
    const wake = (): void => end(false);
    const cancel = clock.after(idleMs, () => end(true));
    line.wake = wake;
    signal?.addEventListener("abort", wake);
  });
}
