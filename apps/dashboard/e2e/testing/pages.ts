import type { Page } from "playwright-core";

/** Every page that can be opened without an ID, and what must stand on it. */
export const LIST_PAGES = [
  { path: "/fleet", heading: "Fleet", content: ".is-fleet tbody tr" },
  { path: "/flows", heading: "Flows", content: ".flow .flow-node" },
  { path: "/reservations", heading: "Reservations", content: ".is-reservations tbody tr" },
  { path: "/requests", heading: "Requests", content: ".totals.is-unmet" },
  { path: "/decisions", heading: "Decisions", content: ".is-decisions tbody tr" },
  { path: "/what-if", heading: "What if", content: ".verdict" },
  { path: "/capacity", heading: "Capacity", content: ".chart svg" },
  { path: "/money", heading: "Money", content: ".is-money tbody tr" },
  { path: "/audit", heading: "Audit", content: ".is-audit tbody tr" },
] as const;

/** The lists of the page of requests, where there are some of each kind. */
export const REQUEST_LISTS = [
  { path: "/requests", content: ".is-waiting tbody tr" },
  { path: "/requests?show=refused", content: ".is-refused-requests tbody tr" },
  { path: "/requests?show=tenants", content: ".is-tenants tbody tr" },
] as const;

/** The page of one thing, reached by the first link of its list. */
export async function openFirst(page: Page, origin: string, list: string): Promise<string> {
  await page.goto(`${origin}${list}`);
  await page.locator("tbody .row-link").first().click();
  await page.locator(".trail").waitFor();
  return new URL(page.url()).pathname;
}

export async function untilLive(page: Page): Promise<void> {
  await page.locator('[data-status="live"]').waitFor();
}

export function badge(page: Page): Promise<string | null> {
  return page.locator(".badge").getAttribute("data-status");
}
