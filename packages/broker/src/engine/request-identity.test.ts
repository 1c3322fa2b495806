import { request } from "@resource-broker/domain/testing";
import { expect, test } from "vitest";
import { requestIdentity } from "./request-identity.ts";

const UID = "5f1c8a3e-0000-4000-8000-000000000001";
const ASKED = { requester: "rome", request: request({ cpu: 1 }) };
const FIRST = { ...ASKED, namespace: "ml", key: `${UID}-1` };

test.each([
  ["attempts of one object", FIRST, { ...FIRST, key: `${UID}-2` }, true],
  [
    "an object's attempt, and what is stored of it without its namespace",
    FIRST,
    { ...ASKED, key: `${UID}-1` },
    true,
  ],
  ["attempts for another amount", FIRST, { ...FIRST, request: request({ cpu: 2 }) }, false],
  ["other keys", { ...ASKED, key: "a" }, { ...ASKED, key: "b" }, true],
  ["other keys in two namespaces", { ...ASKED, namespace: "ml" }, { ...ASKED, namespace: "web" }, false],
  ["other clusters", ASKED, { ...ASKED, requester: "oslo" }, false],
] as const)("%s: whether they are one request", (_, one, other, isSame) => {
  expect(requestIdentity(one) === requestIdentity(other)).toBe(isSame);
});
