import { RESOURCES } from "@resource-broker/base";
import type { AdvertisementDTO } from "@resource-broker/contract";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { launchBrowser, openWindow, type Window } from "../testing/browser.ts";
import { type DashboardBroker, makeLink, startDashboardBroker } from "../testing/dashboard-broker.ts";
import { LIST_PAGES, untilLive } from "../testing/pages.ts";
import { sampleFleet } from "../testing/sample-fleet.ts";

let dashboard: DashboardBroker;
let browser: Browser;

const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

beforeAll(async () => {
  [dashboard, browser] = await Promise.all([startDashboardBroker(), launchBrowser()]);
  const fleet = sampleFleet(dashboard.broker);
  await fleet.advertise();
  for (let trade = 0; trade < 4; trade++) await fleet.reserveAndRelease();
});

afterAll(async () => {
  await browser?.close();
  await dashboard?.broker.dispose();
});

async function visit(): Promise<Window> {
  const window = await openWindow(browser);
  onTestFinished(() => window.context.close());
  return window;
}

async function advertise(clusterID: string, more: Partial<AdvertisementDTO> = {}): Promise<void> {
  const [all, allocated] = [
    { cpu: "8", memory: "16Gi" },
    { cpu: "0", memory: "0" },
  ];
  const resources = { capacity: all, allocatable: all, allocated, available: all };
  const body = { clusterID, resources, timestamp: "2026-07-01T10:00:00Z", ...more };
  const client = dashboard.broker.clientFor(clusterID);
  expect(await client.request("POST", "/api/v1/advertisements", { body })).toMatchObject({ status: 200 });
}

test("a link signs one browser in, once", async () => {
  const link = await makeLink(dashboard.broker);
  const first = await visit();
  await first.page.goto(link);
  await untilLive(first.page);
  expect(await first.page.evaluate("document.cookie")).toBe("");
  const second = await visit();
  await second.page.goto(link);
  await second.page.getByRole("heading", { name: "This link has expired" }).waitFor();
  expect(await second.page.locator(".yaml").innerText()).toContain("brokerctl dashboard");
});

test("without a link the page says how to get one; signing out leads back there", async () => {
  const { page } = await visit();
  await page.goto(dashboard.origin);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.goto(await makeLink(dashboard.broker));
  await untilLive(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await page.locator(".shell").count()).toBe(0);
});

test("a viewer sees everything and no button that would be refused", async () => {
  const { page, problems } = await visit();
  await page.goto(await makeLink(dashboard.broker, "viewer"));
  await untilLive(page);
  for (const { path, content } of LIST_PAGES) {
    await page.goto(`${dashboard.origin}${path}`);
    await page.locator(content).first().waitFor();
  }
  await page.goto(`${dashboard.origin}/fleet/paris`);
  await page.locator(".facts").waitFor();
  expect(await page.getByRole("button", { name: /cordon/i }).count()).toBe(0);
  await page.goto(`${dashboard.origin}/fleet/oslo`);
  await page.locator(".bar-row").first().waitFor();
  expect(await page.locator(".bar-row > span:first-child").allInnerTexts()).toEqual(
    RESOURCES.map(({ title }) => title),
  );
  await page.goto(`${dashboard.origin}/reservations?phase=live`);
  await page.locator("tbody .row-link").first().click();
  await page.locator(".timeline").waitFor();
  expect(await page.getByRole("button", { name: "Release" }).count()).toBe(0);
  const status = await page.evaluate(async () => {
    const headers = { "X-Broker-Dashboard": "1" };
    return (await fetch("/api/v1/clusters/paris/cordon", { method: "POST", headers })).status;
  });
  expect(status).toBe(403);
  expect(problems).toEqual([]);
});

test("a cluster with dots in its ID has an address that survives a reload, and can be typed as it is", async () => {
  await advertise("eu.lyon.1");
  const { page } = await visit();
  await page.goto(await makeLink(dashboard.broker));
  await page.getByRole("link", { name: "eu.lyon.1" }).click();
  await page.getByRole("heading", { name: "eu.lyon.1" }).waitFor();
  await page.reload();
  await page.locator(".facts").first().waitFor();
  expect(await page.locator("h1").innerText()).toBe("eu.lyon.1");
  await page.goto(`${dashboard.origin}/fleet/eu.lyon.1`);
  await page.locator(".facts").first().waitFor();
  expect(await page.locator("h1").innerText()).toBe("eu.lyon.1");
});

test("hostile names, labels and reasons are text and nothing else", async () => {
  await advertise("mallory", { clusterName: HOSTILE, gpus: [{ model: HOSTILE.slice(0, 60), count: 1 }] });
  await dashboard.broker
    .admin()
    .request("POST", "/api/v1/clusters/mallory/cordon", { body: { reason: HOSTILE } });
  const { page, problems } = await visit();
  await page.goto(await makeLink(dashboard.broker));
  await untilLive(page);
  for (const path of [
    "/fleet?q=mallory",
    "/fleet/mallory",
    "/audit?q=mallory",
    "/what-if?requester=mallory",
  ]) {
    await page.goto(`${dashboard.origin}${path}`);
    await page.getByText("mallory").first().waitFor();
  }
  await page.goto(`${dashboard.origin}/fleet?q=mallory`);
  expect(await page.locator("tbody .faint.clip").innerText()).toBe(HOSTILE);
  await page.goto(`${dashboard.origin}/fleet/${encodeURIComponent(HOSTILE)}`);
  expect(await page.locator(".page h1").innerText()).toBe(HOSTILE);
  expect(await page.title()).not.toBe("owned");
  expect(await page.locator("main img").count()).toBe(0);
  expect(problems).toEqual([]);
});
