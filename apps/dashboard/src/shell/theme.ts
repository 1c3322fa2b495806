/** In the order in which the button goes through them. */
export const THEMES = {
  auto: { icon: "auto", words: "as the system", next: "light" },
  light: { icon: "sun", words: "light", next: "dark" },
  dark: { icon: "moon", words: "dark", next: "auto" },
} as const;
export type Theme = keyof typeof THEMES;

const KEY = "theme";

/** Storage may be switched off; then a choice lasts as long as the page. */
export function readTheme(storage: Storage): Theme {
  try {
    const stored = storage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : "auto";
  } catch {
    return "auto";
  }
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
