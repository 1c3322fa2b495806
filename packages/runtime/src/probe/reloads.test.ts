import { expect, test } from "vitest";
import { createReloads } from "./reloads.ts";

test("a source that cannot be reloaded is named with its problem until it can", () => {
  const reloads = createReloads();
  const certificates = reloads.source("certificates");
  reloads.source("policy-file");
  expect(reloads.check).toMatchObject({ name: "reloads", isAdvisory: true });
  expect(reloads.check.problem()).toBeUndefined();
  certificates("tls.crt is cut short");
  expect(reloads.check.problem()).toBe("certificates not reloaded: tls.crt is cut short");
  expect(reloads.statuses()).toEqual([
    { source: "certificates", problem: "tls.crt is cut short" },
    { source: "policy-file", problem: undefined },
  ]);
  certificates(undefined);
  expect(reloads.check.problem()).toBeUndefined();
});

test("several readers of one name fail when any of them does", () => {
  const reloads = createReloads();
  const [api, dashboard] = [reloads.source("certificates"), reloads.source("certificates")];
  dashboard("ENOENT");
  api(undefined);
  expect(reloads.statuses()).toEqual([{ source: "certificates", problem: "ENOENT" }]);
});
