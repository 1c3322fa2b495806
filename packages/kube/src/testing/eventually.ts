import { vi } from "vitest";

/** Waits for what another process or the network brings about. The bound only ends a test that would hang. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: 20_000, interval: 5 });
}
