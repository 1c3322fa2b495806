import type { ReservationDTO } from "@resource-broker/contract";
import type { Page, Route } from "playwright-core";

const LISTS_AND_TIMELINES = /\/api\/v1\/reservations(\?|\/[^/]+\/timeline)/;
const NOTICE_MS = 5 * 60_000;

/** From now on the page is shown a notice for each live reservation: no fleet of a test is old enough to get one. */
export async function showNotices(page: Page): Promise<() => Promise<void>> {
  await page.route(LISTS_AND_TIMELINES, underNotice);
  return () => page.unroute(LISTS_AND_TIMELINES);
}

async function underNotice(route: Route): Promise<void> {
  const response = await route.fetch({ url: route.request().url().replace("=preempting", "=live") });
  const at = new Date(performance.timeOrigin + performance.now() + NOTICE_MS).toISOString();
  const marked = (reservation: ReservationDTO): ReservationDTO =>
    reservation.endedAt === undefined ? { ...reservation, preempting: { at, byPriority: 50 } } : reservation;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of these two calls of the broker
  const body = (await response.json()) as ReservationDTO[] | { readonly reservation: ReservationDTO };
  const json = Array.isArray(body) ? body.map(marked) : { ...body, reservation: marked(body.reservation) };
  await route.fulfill({ response, json });
}
