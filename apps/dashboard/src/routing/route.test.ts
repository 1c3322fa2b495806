import { expect, test } from "vitest";
import { hrefTo, parseRoute } from "./route.ts";

test.each([
  ["/", "fleet", null],
  ["/fleet", "fleet", null],
  ["/fleet/paris", "fleet", "paris"],
  ["/reservations/rsv-rome-k3", "reservations", "rsv-rome-k3"],
  ["/what-if", "what-if", null],
  ["/flows/paris", null, "paris"],
  ["/fleet/paris/more", null, "paris"],
  ["/nothing", null, null],
  ["/fleet/%zz", "fleet", "%zz"],
])("%s is the page %s of %s", (path, page, id) => {
  expect(parseRoute(path, "")).toMatchObject({ page, id });
});

test("whatever an ID is made of, its link leads back to it", () => {
  const id = '"><img src=x>/eu.paris?#';
  expect(parseRoute(hrefTo("fleet", id), "")).toMatchObject({ page: "fleet", id });
});
