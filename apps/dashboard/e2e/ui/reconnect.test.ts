import { startBroker, testCertificates } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { launchBrowser, openWindow } from "../testing/browser.ts";
import { freePort, makeLink } from "../testing/dashboard-broker.ts";
import { badge, untilLive } from "../testing/pages.ts";
import { sampleFleet } from "../testing/sample-fleet.ts";

/** Over HTTPS, so that both ways to sign in are there: an admin's certificate in one window, a link in the other. */
async function secureDashboard() {
  const port = await freePort();
  const certificates = await testCertificates();
  const broker = await startBroker({ certificates, flags: [`--dashboard-bind-address=0.0.0.0:${port}`] });
  onTestFinished(broker.dispose);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const origin = `https://127.0.0.1:${port}`;
  const { cert, key } = certificates.admin("admin");
  const window = await openWindow(browser, {
    ignoreHTTPSErrors: true,
    clientCertificates: [{ origin, cert: Buffer.from(cert), key: Buffer.from(key) }],
  });
  const guest = await openWindow(browser, { ignoreHTTPSErrors: true });
  return { broker, origin, window, guest };
}

test("the broker is killed and comes back: the badge says so, the stream continues, and no row is lost", async () => {
  const { broker, origin, window, guest } = await secureDashboard();
  const { page } = window;
  const fleet = sampleFleet(broker);
  await fleet.advertise();
  for (let trade = 0; trade < 3; trade++) await fleet.reserveAndRelease();
  await page.goto(`${origin}/reservations`);
  await untilLive(page);
  expect(await page.locator(".who").innerText()).toContain("admin");
  const rows = page.locator("tbody .row-link");
  const ids = () => rows.allInnerTexts();
  await rows.first().waitFor();
  const before = await ids();
  await page.evaluate(() => Object.assign(globalThis, { isStillHere: true }));
  const link = await makeLink(broker, "viewer");
  await guest.page.goto(link);
  await untilLive(guest.page);

  await broker.kill("SIGKILL");
  await page.locator('[data-status="reconnecting"]').waitFor();
  expect(await ids()).toEqual(before);
  await page.locator('[data-status="stale"]').waitFor();

  await broker.restart();
  await untilLive(page);
  await fleet.advertise();
  await fleet.reserveAndRelease();
  const newest = fleet.newest()?.id ?? "";
  await page.getByRole("link", { name: newest }).waitFor();
  expect(await ids()).toEqual(expect.arrayContaining(before));
  expect(await badge(page)).toBe("live");
  expect(await page.evaluate(() => "isStillHere" in globalThis)).toBe(true);

  await untilLive(guest.page);
  expect(await guest.page.locator(".who").innerText()).toContain("viewer");
  await guest.page.goto("about:blank");
  await guest.page.goto(link);
  await guest.page.getByRole("heading", { name: "This link has expired" }).waitFor();
});
