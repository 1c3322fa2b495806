import { parseRoute, type Route } from "./route.ts";

export interface Router {
  readonly route: () => Route;
  readonly subscribe: (listener: () => void) => () => void;
  /** `replace`: the back button does not come back to where one is now. */
  readonly go: (href: string, options?: { readonly replace?: boolean }) => void;
}

export function createRouter(window: Window): Router {
  const listeners = new Set<() => void>();
  const read = (): Route => parseRoute(window.location.pathname, window.location.search);
  let current = read();
  const changed = (): void => {
    current = read();
    for (const listener of listeners) listener();
  };
  window.addEventListener("popstate", changed);
  return {
    route: () => current,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    go: (href, { replace = false } = {}) => {
      if (replace) window.history.replaceState(null, "", href);
      else window.history.pushState(null, "", href);
      changed();
    },
  };
}
