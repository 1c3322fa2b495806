import { generateKeyPairSync } from "node:crypto";
import { expect, it } from "vitest";
import {
  fingerprintOf,
  generateIdentityKey,
  isSignedJws,
  isSignedText,
  readIdentityKey,
  readJws,
  signJws,
  signText,
} from "./identity-key.ts";
import { toKeyPem } from "./sign.ts";

it("a key is the same after it was stored", () => {
  const key = generateIdentityKey();
  expect(readIdentityKey(toKeyPem(key.privateKey)).id).toBe(key.id);
  expect(fingerprintOf(key.id)).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/u);
  const other = toKeyPem(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
  expect(() => readIdentityKey(other)).toThrow("not an Ed25519 key");
});

it("a text is signed by one key only", () => {
  const [key, other] = [generateIdentityKey(), generateIdentityKey()];
  const signature = signText("rear/test/1\nrome", key);
  expect(isSignedText("rear/test/1\nrome", signature, key.id)).toBe(true);
  expect(isSignedText("rear/test/1\nparis", signature, key.id)).toBe(false);
  expect(isSignedText("rear/test/1\nrome", signature, other.id)).toBe(false);
  expect(isSignedText("rear/test/1\nrome", signature, "AAAA")).toBe(false);
});

it("a key has one text: another that decodes to the same bytes is none", () => {
  const key = generateIdentityKey();
  const last = key.id.charCodeAt(42);
  const respelled = key.id.slice(0, 42) + String.fromCharCode(last + 1);
  expect(Buffer.from(respelled, "base64url")).toEqual(Buffer.from(key.id, "base64url"));
  expect(isSignedText("rear/test/1\nrome", signText("rear/test/1\nrome", key), respelled)).toBe(false);
  expect(isSignedJws(signJws({}, "a+jws", key), respelled)).toBe(false);
});

it("a JWS says what was signed, for its purpose only", () => {
  const key = generateIdentityKey();
  const jws = signJws({ from: "rome" }, "a+jws", key);
  expect(readJws(jws, "a+jws")).toEqual({ from: "rome" });
  expect(readJws(jws, "b+jws")).toBeUndefined();
  expect(isSignedJws(jws, key.id)).toBe(true);
  expect(isSignedJws(jws, generateIdentityKey().id)).toBe(false);
  const [header, , signature] = jws.split(".");
  const forged = `${header}.${Buffer.from('{"from":"paris"}').toString("base64url")}.${signature}`;
  expect(isSignedJws(forged, key.id)).toBe(false);
  const unsigned = Buffer.from('{"alg":"none","typ":"a+jws"}').toString("base64url");
  expect(readJws(`${unsigned}.e30.`, "a+jws")).toBeUndefined();
});
