import { crc32 } from "node:zlib";
import { expect, it } from "vitest";
import { formatToken, parseToken, SIGNED_TEXT } from "./join.ts";

const TOKEN = { id: "k3u7dq2hvm", secret: "A".repeat(42) + "_" };

it("a token is read back, with white space around it", () => {
  const text = formatToken(TOKEN);
  const sum = crc32(`${TOKEN.id}.${TOKEN.secret}`).toString(16).padStart(8, "0");
  expect(text).toBe(`rbj1.${TOKEN.id}.${TOKEN.secret}.${sum}`);
  expect(parseToken(` ${text}\n`)).toEqual(TOKEN);
});

it("a token that was cut or mistyped is none", () => {
  const text = formatToken(TOKEN);
  for (let length = 0; length < text.length; length++)
    expect(parseToken(text.slice(0, length))).toBeUndefined();
  expect(parseToken(text.replace("A", "B"))).toBeUndefined();
  expect(parseToken(text.replace("rbj1", "rbj2"))).toBeUndefined();
  expect(parseToken(`${text}x`)).toBeUndefined();
});

it("no signed text can serve for another purpose", () => {
  const texts = [
    SIGNED_TEXT.certificateKey("rome", "a".repeat(64)),
    SIGNED_TEXT.identityKey("rome", "a".repeat(43)),
    SIGNED_TEXT.enrollment({ clusterID: "rome", tokenID: "t", secretHash: "s", caHash: "c" }),
  ];
  expect(new Set(texts.map((text) => text.split("\n")[0])).size).toBe(texts.length);
});
