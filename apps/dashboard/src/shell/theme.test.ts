import { expect, test } from "vitest";
import { applyTheme, readTheme } from "./theme.ts";

/** As much of a browser's storage as is used here. */
function storage(isClosed = false): Storage {
  const kept = new Map<string, string>();
  const guard = (): void => {
    if (isClosed) throw new DOMException("closed", "SecurityError");
  };
  return {
    length: 0,
    clear: () => kept.clear(),
    key: () => null,
    removeItem: (name) => void kept.delete(name),
    getItem: (name) => {
      guard();
      return kept.get(name) ?? null;
    },
    setItem: (name, value) => {
      guard();
      kept.set(name, value);
    },
  };
}

test.each([false, true])(
  "a choice of colours lasts; where nothing may be stored (%s) it is as the system",
  (isClosed) => {
    const place = storage(isClosed);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of an element as is used here
    const root = { dataset: {} } as unknown as HTMLElement;
    applyTheme("dark", root, place);
    expect(root.dataset["theme"]).toBe("dark");
    expect(readTheme(place)).toBe(isClosed ? "auto" : "dark");
    applyTheme("auto", root, place);
    expect(root.dataset["theme"]).toBeUndefined();
  },
);
