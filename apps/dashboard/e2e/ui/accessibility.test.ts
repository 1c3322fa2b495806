import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DESKTOP, launchBrowser, openWindow, PHONE } from "../testing/browser.ts";
import { type DashboardBroker, makeLink, startDashboardBroker } from "../testing/dashboard-broker.ts";
import { LIST_PAGES, openFirst, REQUEST_LISTS, untilLive } from "../testing/pages.ts";
import { type SampleFleet, sampleFleet } from "../testing/sample-fleet.ts";
import { SAMPLE_POLICY, sampleQueue } from "../testing/sample-queue.ts";
import { showNotices } from "../testing/under-notice.ts";

let dashboard: DashboardBroker;
let browser: Browser;
let page: Page;
let axe: string;
let fleet: SampleFleet;

beforeAll(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  [dashboard, browser] = await Promise.all([
    startDashboardBroker({ policy: SAMPLE_POLICY }),
    launchBrowser(),
  ]);
  fleet = sampleFleet(dashboard.broker);
  await fleet.advertise();
  for (let trade = 0; trade < 12; trade++) await fleet.reserveAndRelease();
  const queue = sampleQueue(dashboard.broker);
  await queue.hold();
  await queue.fill();
  await dashboard.broker
    .admin()
    .request("POST", "/api/v1/clusters/dublin/cordon", { body: { reason: "kernel" } });
  page = (await openWindow(browser)).page;
  await page.goto(await makeLink(dashboard.broker));
  await untilLive(page);
});

afterAll(async () => {
  await browser?.close();
  await dashboard?.broker.dispose();
});

async function seriousViolations(): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`));
}

const LOOKS = [
  { name: "light", colorScheme: "light", size: DESKTOP },
  { name: "dark", colorScheme: "dark", size: DESKTOP },
  { name: "light on a phone", colorScheme: "light", size: PHONE },
] as const;

/** The smallest that people still read. */
const SMALLEST_PX = 11;

test.each(LOOKS)(
  "no page has a serious barrier or too small a text, $name",
  async ({ colorScheme, size }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize(size);
    const details = [
      await openFirst(page, dashboard.origin, "/reservations?phase=live"),
      await openFirst(page, dashboard.origin, "/decisions?outcome=granted"),
      await openFirst(page, dashboard.origin, "/requests"),
      "/fleet/dublin",
      await openFirst(page, dashboard.origin, "/decisions?outcome=refused"),
      "/no-such-page",
    ];
    const found: Record<string, string[]> = {};
    const look = async (path: string): Promise<string[]> => {
      await page.goto(`${dashboard.origin}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".skeleton").first().waitFor({ state: "detached" });
      const small = await page.evaluate<string[]>(`(${SMALL_TEXTS})(${SMALLEST_PX})`);
      return [...small, ...(await seriousViolations())];
    };
    for (const path of [...details, ...[...LIST_PAGES, ...REQUEST_LISTS].map((each) => each.path)])
      found[path] = await look(path);
    const hideNotices = await showNotices(page);
    for (const path of [details[0] ?? "", "/reservations?phase=live", "/fleet/frankfurt"])
      found[`${path} under notice`] = await look(path);
    await hideNotices();
    expect(await page.evaluate("getComputedStyle(document.documentElement).fontSize")).toBe("16px");
    await page.goto(`${dashboard.origin}/fleet/dublin`);
    await page.getByRole("button", { name: "Uncordon" }).click();
    found["a dialog"] = await seriousViolations();
    expect(Object.entries(found).filter(([, problems]) => problems.length > 0)).toEqual([]);
  },
);

/** As they are drawn: letters of a drawing are scaled with it. Placeholders count as text, too. */
const SMALL_TEXTS = `(smallest) => {
  const small = new Set();
  const sizeOf = (element, pseudo) => parseFloat(getComputedStyle(element, pseudo).fontSize);
  const look = (element, size, text) => {
    if (size < smallest - 0.01) small.add(element.tagName + "." + element.getAttribute("class") + " " + size + "px: " + text.slice(0, 30));
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === "" || element.getClientRects().length === 0) continue;
    const drawing = element.ownerSVGElement?.getScreenCTM();
    look(element, sizeOf(element) * (drawing?.a ?? 1), node.data);
  }
  for (const element of document.querySelectorAll("input, select, textarea"))
    look(element, Math.min(sizeOf(element), sizeOf(element, "::placeholder") || 99), element.placeholder ?? "");
  return [...small];
}`;

const SIZES = [
  { width: 1320, height: 800 },
  { width: 1265, height: 800 },
  { width: 1161, height: 800 },
  { width: 1024, height: 768 },
  { width: 768, height: 1024 },
  PHONE,
];

test("nothing is out of sight, however narrow the window", async () => {
  const detail = await openFirst(page, dashboard.origin, "/reservations?phase=live");
  const hideNotices = await showNotices(page);
  for (const { path, content } of [
    ...LIST_PAGES,
    ...REQUEST_LISTS,
    { path: detail, content: ".command code" },
  ]) {
    await page.goto(`${dashboard.origin}${path}`);
    await page.locator(content).first().waitFor();
    for (const size of SIZES) {
      await page.setViewportSize(size);
      expect([path, size.width, await page.evaluate(OVERHANG)]).toEqual([path, size.width, 0]);
    }
  }
  await hideNotices();
});

/** Drawings follow the width of the window a frame later. */
const OVERHANG = `(async () => {
  for (let frame = 0; frame < 3; frame++) await new Promise((done) => requestAnimationFrame(done));
  const boxes = [document.documentElement, ...document.querySelectorAll(".table-box")];
  return Math.max(...boxes.map((each) => each.scrollWidth - each.clientWidth));
})()`;

test("a filter that is removed by the keyboard leaves the focus on the page", async () => {
  await page.setViewportSize(DESKTOP);
  await page.goto(`${dashboard.origin}/reservations?requester=rome`);
  await page.getByRole("button", { name: "Remove the filter Requester rome" }).press("Enter");
  await page.locator("h1:focus").waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("a field of the what-if that is emptied stays empty", async () => {
  await page.goto(`${dashboard.origin}/what-if?requester=rome&cpu=16`);
  await page.locator(".verdict").waitFor();
  await page.getByLabel("CPU").fill("");
  await page.getByText("Enter the requester and the amounts").waitFor();
  expect(await page.getByLabel("CPU").inputValue()).toBe("");
});

test("the what-if says nothing of a question that nobody answers", async () => {
  // On a busy machine all have been silent for too long by now.
  await fleet.advertise();
  await page.setViewportSize(DESKTOP);
  await page.goto(`${dashboard.origin}/what-if?requester=rome&cpu=2`);
  await page.locator(".verdict").waitFor();
  await page.getByText("Create this request").waitFor();
  await page.locator(".is-ranking").waitFor();
  await page.route("**/api/v1/quotes*", (route) => route.abort());
  await page.getByLabel("CPU").fill("9999");
  await page.getByRole("alert").waitFor();
  expect(await page.locator(".verdict").count()).toBe(0);
  expect(await page.locator(".is-ranking").count()).toBe(0);
  expect(await page.getByText("Create this request").count()).toBe(0);
  await page.unroute("**/api/v1/quotes*");
  await page.getByLabel("CPU").fill("9998");
  await page.locator(".verdict.is-bad").waitFor();
});
