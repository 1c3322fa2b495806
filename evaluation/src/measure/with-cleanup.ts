/** Registers a cleanup. */
export type OnCleanup = (end: () => unknown) => void;

/** Runs the cleanups in reverse order at the end. A failed cleanup does not prevent the others. */
export async function withCleanup<T>(use: (later: OnCleanup) => Promise<T>): Promise<T> {
  const endings: (() => unknown)[] = [];
  try {
    return await use((end) => void endings.push(end));
  } finally {
    for (const end of endings.reverse()) {
      try {
        await end();
      } catch {
        // It has ended already.
      }
    }
  }
}
