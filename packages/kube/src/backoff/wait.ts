import type { Clock } from "@resource-broker/runtime";

/** Resolves when the time has passed or the signal, if there is one, is given, whichever is first. */
export async function wait(
  delayMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<void> {
  if (signal?.aborted === true || delayMs <= 0) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(delayMs, end);
    signal?.addEventListener("abort", end);
  });
}
