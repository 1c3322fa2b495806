import { createPrivateKey } from "node:crypto";
import { testCertificates } from "@resource-broker/testkit";
import { assert, constantFrom, integer, property, string } from "fast-check";
import { expect, test } from "vitest";
import { createSeal } from "./seal.ts";

const [one, other] = [(await testCertificates()).broker.key, (await testCertificates()).broker.key];
const sealWith = (key: string, realm = "ledger-1") =>
  createSeal({ privateKey: () => key, realm: () => realm });
const FIELDS = ["id", "viewer", "ops", "1767614400000"];
const seal = sealWith(one);
const sealed = seal.seal(FIELDS);

test("whoever has the same key knows its words again, however the key is written down", () => {
  const rewritten = createPrivateKey(one).export({ format: "pem", type: "sec1" }).toString();
  expect(rewritten).not.toBe(one);
  for (const reader of [seal, sealWith(one), sealWith(rewritten)])
    expect(reader.open(sealed)).toEqual(FIELDS);
});

test.each([
  { name: "another key", text: sealWith(other).seal(FIELDS) },
  { name: "the same key of another ledger", text: sealWith(one, "ledger-2").seal(FIELDS) },
  { name: "no seal", text: FIELDS.join("~") },
  { name: "an empty seal", text: `${FIELDS.join("~")}~` },
  { name: "the seal alone", text: sealed.slice(sealed.lastIndexOf("~")) },
  { name: "words that were put before", text: `more~${sealed}` },
  { name: "words that were put behind", text: `${sealed}~more` },
  { name: "the seal twice", text: `${sealed}~${sealed.slice(sealed.lastIndexOf("~") + 1)}` },
  { name: "a seal of other length", text: `${sealed}A` },
  { name: "the seal written in another way", text: `${sealed}=` },
  { name: "a higher role", text: sealed.replace("viewer", "admin") },
  { name: "nothing", text: "" },
])("what bears $name is not known", ({ text }) => {
  expect(seal.open(text)).toBeUndefined();
});

test("cut off anywhere, or with any character changed, it is not known", () => {
  const changes = property(
    integer({ min: 0, max: sealed.length - 1 }),
    constantFrom("A", "b", "0", "-", "_", "~", "é", ""),
    (at, put) => {
      const changed = sealed.slice(0, at) + put + sealed.slice(at + 1);
      expect(seal.open(sealed.slice(0, at))).toBeUndefined();
      if (changed !== sealed) expect(seal.open(changed)).toBeUndefined();
    },
  );
  assert(changes);
});

test("nothing that anybody makes up is known", () => {
  const made = property(string({ maxLength: 300 }), (text) => {
    expect(seal.open(text)).toBeUndefined();
  });
  assert(made);
});

test("a key that comes again while it runs ends what the old one sealed", () => {
  let key = one;
  const changing = createSeal({ privateKey: () => key, realm: () => "ledger-1" });
  expect(changing.open(sealed)).toEqual(FIELDS);
  key = other;
  expect(changing.open(sealed)).toBeUndefined();
  expect(sealWith(other).open(changing.seal(FIELDS))).toEqual(FIELDS);
});
