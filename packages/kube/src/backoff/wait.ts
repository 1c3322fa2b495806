import type { MachineTime } from "@resource-broker/runtime";

/** Resolves when the time has passed or the signal is given, whichever is first. */
export async function wait(
  delayMs: number,
  { machine, signal }: { readonly machine: MachineTime; readonly signal: AbortSignal },
): Promise<void> {
  if (signal.aborted || delayMs <= 0) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = machine.after(delayMs, end);
    signal.addEventListener("abort", end);
  });
}
