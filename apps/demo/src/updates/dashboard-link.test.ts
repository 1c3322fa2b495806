import { Fault } from "@resource-broker/base";
import type { CallSender } from "@resource-broker/client";
import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { dashboardLinks } from "./dashboard-link.ts";
import type { DemoUpdate } from "./update.ts";

function linksOf(answer: () => Promise<{ readonly value: unknown }>) {
  const clock = fakeClock();
  const published: DemoUpdate[] = [];
  let asked = 0;
  const request = () => {
    asked++;
    return answer();
  };
  const look = dashboardLinks({
    admin: { request } as unknown as CallSender,
    command: "brokerctl dashboard",
    clock,
    onUpdate: (update) => published.push(update),
  });
  return { clock, published, asked: () => asked, look };
}

const LINK = { url: "http://127.0.0.1:1/#token=a", role: "admin", expiresAt: "2026-01-05T12:02:00.000Z" };

test("a link is reported once, and a new one before the last is too old", async () => {
  const { clock, published, asked, look } = linksOf(async () => ({ value: LINK }));
  await look();
  await clock.advance(89_999);
  await look();
  expect(published).toEqual([
    {
      kind: "dashboard",
      dashboard: { url: LINK.url, expiresAt: LINK.expiresAt, command: "brokerctl dashboard" },
    },
  ]);
  await clock.advance(1);
  await look();
  expect({ published: published.length, asked: asked() }).toEqual({ published: 2, asked: 2 });
});

test("a broker that makes none is reported, and asked again", async () => {
  const { asked, look } = linksOf(() => Promise.reject(new Fault("not-leader", "x")));
  await expect(look()).rejects.toThrow("answered 503");
  await expect(look()).rejects.toThrow("answered 503");
  expect(asked()).toBe(2);
});
