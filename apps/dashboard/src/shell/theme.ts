export type Theme = "auto" | "light" | "dark";

const KEY = "theme";
const NEXT: Readonly<Record<Theme, Theme>> = { auto: "light", light: "dark", dark: "auto" };

/** Storage may be switched off; then a choice lasts as long as the page. */
export function readTheme(storage: Storage): Theme {
  try {
    const stored = storage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : "auto";
  } catch {
    return "auto";
  }
}

export function nextTheme(theme: Theme): Theme {
  return NEXT[theme];
}

export function applyTheme(theme: Theme, root: HTMLElement, storage: Storage): void {
  if (theme === "auto") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
  try {
    storage.setItem(KEY, theme);
  } catch {
    // As above.
  }
}
