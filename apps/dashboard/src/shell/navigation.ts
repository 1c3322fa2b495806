import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";

/** The pages, in the order of the menu. */
export const PAGES = [
  { name: "fleet", title: "Fleet" },
  { name: "flows", title: "Flows" },
  { name: "reservations", title: "Reservations" },
  { name: "requests", title: "Requests" },
  { name: "decisions", title: "Decisions" },
  { name: "what-if", title: "What if" },
  { name: "capacity", title: "Capacity" },
  { name: "money", title: "Money" },
  { name: "audit", title: "Audit" },
] as const;
export type PageName = (typeof PAGES)[number]["name"];

export function hrefTo(page: PageName, id?: string): string {
  return id === undefined ? `/${page}` : `/${page}/${encodeURIComponent(id)}`;
}

/** A path with those parameters that are stated. */
export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

export type QueryChange = Readonly<Record<string, string | number | null>>;

/** The state of a list is in the address: the address can be shared, and a reload keeps it. */
export function useQuery(): {
  readonly query: URLSearchParams;
  /** `replace`: the back button does not come back to where one is now. */
  readonly change: (change: QueryChange, options?: { readonly replace?: boolean }) => void;
} {
  const [, navigate] = useLocation();
  const search = useSearch();
  const query = useMemo(() => new URLSearchParams(search), [search]);
  const change = useCallback(
    (changes: QueryChange, options: { readonly replace?: boolean } = {}) => {
      // What the address is now, not when the page was drawn.
      const { pathname, search: current } = window.location;
      const next = { ...Object.fromEntries(new URLSearchParams(current)), ...changes };
      navigate(withQuery(pathname, next), options);
    },
    [navigate],
  );
  return { query, change };
}
