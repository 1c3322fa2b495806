/** Takes what must be done in the end, whatever happens. */
export type Later = (end: () => unknown) => void;

/** Does what was left for later in the end, last thing first; what fails there must not keep the rest from ending. */
export async function withEndings<T>(use: (later: Later) => Promise<T>): Promise<T> {
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
