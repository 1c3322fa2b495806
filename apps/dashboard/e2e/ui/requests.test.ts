import type { ReservationDTO } from "@resource-broker/contract";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser, openWindow } from "../testing/browser.ts";
import { type DashboardBroker, makeLink, startDashboardBroker } from "../testing/dashboard-broker.ts";
import { openFirst, untilLive } from "../testing/pages.ts";
import { type SampleFleet, sampleFleet } from "../testing/sample-fleet.ts";
import { AGENT, SAMPLE_POLICY, sampleQueue } from "../testing/sample-queue.ts";
import { showNotices } from "../testing/under-notice.ts";

let dashboard: DashboardBroker;
let browser: Browser;
let page: Page;
let problems: readonly string[];
let fleet: SampleFleet;

beforeAll(async () => {
  [dashboard, browser] = await Promise.all([
    startDashboardBroker({ policy: SAMPLE_POLICY }),
    launchBrowser(),
  ]);
  fleet = sampleFleet(dashboard.broker);
  await fleet.advertise();
  await sampleQueue(dashboard.broker).hold();
  ({ page, problems } = await openWindow(browser));
  await page.goto(await makeLink(dashboard.broker));
  await untilLive(page);
});

afterAll(async () => {
  await browser?.close();
  await dashboard?.broker.dispose();
});

const rows = (list: string) => page.locator(`.${list} tbody tr`);
const total = (title: string) => page.locator(".figure", { hasText: title }).locator(".figure-value");

test("requests that begin to wait appear without a reload, in the order of the queue, each with its reason", async () => {
  await page.goto(`${dashboard.origin}/requests`);
  await page.getByText("Nobody waits").waitFor();
  await untilLive(page);
  await page.evaluate(() => Object.assign(globalThis, { isStillHere: true }));
  await sampleQueue(dashboard.broker).fill();
  await rows("is-waiting").nth(6).waitFor();
  const first = await rows("is-waiting").first().innerText();
  expect(first).toMatch(/^1\s+rsv-rome-\w+\s+rome\s*· ml · ml-training/);
  const reasons = await page.locator(".cell-reason .chip").allInnerTexts();
  expect(reasons).toEqual(expect.arrayContaining(["No capacity", "Over quota", "Over budget", "Too large"]));
  expect(await total("Waiting requests").innerText()).toBe("7");
  expect(await page.evaluate(() => "isStillHere" in globalThis)).toBe(true);
});

test("the list is sorted and filtered by its address, which a reload keeps", async () => {
  await page.goto(`${dashboard.origin}/requests?tenant=ml&sort=cpu`);
  await page.reload();
  await rows("is-waiting").nth(2).waitFor();
  expect(await rows("is-waiting").count()).toBe(3);
  expect(await page.locator('th[aria-sort="ascending"]').innerText()).toContain("CPU");
  await page.getByRole("button", { name: "Remove the filter Tenant ml" }).click();
  await rows("is-waiting").nth(6).waitFor();
  await page.getByLabel("Find by ID, cluster or tenant").fill("no such cluster");
  await page.getByText("No request matches").waitFor();
});

test("retries of a refused request are one row, which leads to the last decision", async () => {
  await page.goto(`${dashboard.origin}/requests`);
  await page.getByRole("radio", { name: "Waiting" }).press("ArrowRight");
  await rows("is-refused-requests").nth(2).waitFor();
  const attempts = await page.locator('.is-refused-requests [data-label="Attempts"]').allInnerTexts();
  expect(attempts.toSorted()).toEqual(["12", "3", "5"]);
  expect(await total("Refused requests").innerText()).toBe("3");
  // The arrow keys lead on: choosing another list leaves the focus where it is.
  await page.locator('input[value="refused"]:focus').waitFor();
  await rows("is-refused-requests").filter({ hasText: "batch" }).locator(".row-link").click();
  await page.getByRole("heading", { name: /^No provider for dublin/ }).waitFor();
});

test("tenants show their demand, their quota and their budget", async () => {
  await page.goto(`${dashboard.origin}/requests?show=tenants`);
  const ml = page.locator(".is-demand tbody tr", { hasText: "ml" });
  expect(await ml.locator('[data-label="Waiting"]').innerText()).toContain("3 requests");
  const trading = rows("is-tenants").filter({ hasText: "trading" });
  await trading.getByRole("img", { name: /^CPU: 0 of 24/ }).waitFor();
  await trading.getByRole("img", { name: /^Today: €0\.00 of €40\.00/ }).waitFor();
  await ml.getByRole("link", { name: "3 requests" }).click();
  await rows("is-waiting").nth(2).waitFor();
  expect(await rows("is-waiting").count()).toBe(3);
});

test("one request shows what is in the way at each provider, and follows it out of the queue", async () => {
  const path = await openFirst(page, dashboard.origin, "/requests?requester=athens");
  await page.locator(".is-refused tbody tr").first().waitFor();
  expect(await page.locator(".is-refused tbody tr").count()).toBe(18);
  expect(await page.locator(".is-refused tbody tr", { hasText: "frankfurt" }).innerText()).toContain("GPU");
  const [, , id = ""] = path.split("/");
  await page.goto(`${dashboard.origin}/reservations/${id}`);
  await page.getByRole("heading", { name: "In the queue" }).waitFor();
  await untilLive(page);
  await page.getByRole("button", { name: "Remove from the queue" }).click();
  await page.locator("dialog").getByRole("button", { name: "Remove from the queue" }).click();
  await page.getByRole("heading", { name: "Left the queue" }).waitFor();
  await page.getByText("Released by admin", { exact: true }).waitFor();
});

test("a request that is granted leads to its reservation", async () => {
  const path = await openFirst(page, dashboard.origin, "/requests?requester=milan");
  await page.getByRole("heading", { name: "In the queue" }).waitFor();
  await untilLive(page);
  const held = await dashboard.broker
    .clientFor("zurich")
    .request("GET", "/api/v1/reservations", { headers: AGENT });
  const [holder] = held.body as readonly ReservationDTO[];
  await dashboard.broker.clientFor("zurich").request("DELETE", `/api/v1/reservations/${holder?.id ?? ""}`);
  await fleet.advertise();
  await page.getByText("This request does not wait").waitFor();
  await page.getByRole("link", { name: "Its reservation" }).click();
  await page.locator(".timeline").waitFor();
  expect(new URL(page.url()).pathname).toBe(path.replace("requests", "reservations"));
});

test("a reservation under notice counts down, in the list, on its page and on the page of its cluster", async () => {
  const reservation = await openFirst(page, dashboard.origin, "/reservations?phase=live&provider=frankfurt");
  const hideNotices = await showNotices(page);
  for (const path of ["/reservations?phase=live", reservation, "/fleet/frankfurt"]) {
    await page.goto(`${dashboard.origin}${path}`);
    await page
      .getByText(/[0-4] min \d\d s, for priority 50/)
      .first()
      .waitFor();
    await page.getByText("Preempting").first().waitFor();
  }
  await hideNotices();
  expect(problems).toEqual([]);
});
