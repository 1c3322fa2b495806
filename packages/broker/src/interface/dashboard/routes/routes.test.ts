import { expect, test } from "vitest";
import type { UiContext } from "./context.ts";
import { uiRoutes } from "./routes.ts";

test("whoever may only look can call nothing that changes something", () => {
  const changing = uiRoutes({} as UiContext).filter(({ method }) => method !== "GET");
  expect(
    Object.fromEntries(changing.map(({ method, path, access }) => [`${method} ${path}`, access])),
  ).toEqual({
    "POST /ui/session": "anyone",
    "DELETE /ui/session": "anyone",
    "POST /ui/clusters/{id}/cordon": "admin",
    "POST /ui/clusters/{id}/uncordon": "admin",
    "POST /ui/reservations/{id}/release": "admin",
    // Writes nothing.
    "POST /ui/quotes": "viewer",
  });
});

test("nobody reads anything without a session", () => {
  const reading = uiRoutes({} as UiContext).filter(({ method }) => method === "GET");
  expect(reading.length).toBeGreaterThan(10);
  expect(reading.filter(({ access }) => access === "anyone")).toEqual([]);
});
