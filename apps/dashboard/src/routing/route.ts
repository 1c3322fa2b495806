/** The pages, in the order of the menu. */
export const PAGES = [
  { name: "fleet", title: "Fleet" },
  { name: "flows", title: "Flows" },
  { name: "reservations", title: "Reservations" },
  { name: "decisions", title: "Decisions" },
  { name: "what-if", title: "What if" },
  { name: "capacity", title: "Capacity" },
  { name: "money", title: "Money" },
  { name: "audit", title: "Audit" },
] as const;
export type PageName = (typeof PAGES)[number]["name"];

export interface Route {
  /** Null: there is no such page. */
  readonly page: PageName | null;
  /** Of the one thing that is looked at; null: the list. */
  readonly id: string | null;
  readonly query: URLSearchParams;
  /** Path and query as they stand in the address bar. */
  readonly href: string;
}

const HAVE_DETAILS: readonly PageName[] = ["fleet", "reservations", "decisions"];

export function parseRoute(pathname: string, search: string): Route {
  const [name = "", id, ...rest] = pathname.split("/").slice(1);
  const found = PAGES.find((page) => page.name === (name === "" ? "fleet" : name))?.name ?? null;
  const isTooDeep = rest.some((part) => part !== "") || (id !== undefined && id !== "" && !hasDetails(found));
  return {
    page: isTooDeep ? null : found,
    id: id === undefined || id === "" ? null : decoded(id),
    query: new URLSearchParams(search),
    href: `${pathname}${search}`,
  };
}

function hasDetails(page: PageName | null): boolean {
  return page !== null && HAVE_DETAILS.includes(page);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function hrefTo(page: PageName, id?: string): string {
  return id === undefined ? `/${page}` : `/${page}/${encodeURIComponent(id)}`;
}

/** Of the first row; whatever else stands in the address is the beginning. */
export function readOffset(query: URLSearchParams): number {
  const offset = Number(query.get("offset") ?? 0);
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
}
