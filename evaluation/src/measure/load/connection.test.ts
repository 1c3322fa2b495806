import fc from "fast-check";
import { expect, test } from "vitest";
import { wholeReply } from "./connection.ts";

const REPLIES = [
  {
    name: "a body with its length",
    text: 'HTTP/1.1 201 Created\r\nX: y\r\nContent-Length: 7\r\n\r\n{"a":1}',
    reply: { status: 201, body: '{"a":1}' },
  },
  {
    name: "a length in small letters",
    text: "HTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\n{}",
    reply: { status: 409, body: "{}" },
  },
  { name: "no body", text: "HTTP/1.1 204 No Content\r\n\r\n", reply: { status: 204, body: "" } },
  {
    name: "a body in parts",
    text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n, \r\nworld!\r\n0\r\n\r\n",
    reply: { status: 200, body: "hello, \r\nworld!" },
  },
];

test.each(REPLIES)("a reply with $name is read", ({ text, reply }) => {
  const { status, body } = wholeReply(Buffer.from(text)) ?? {};
  expect({ status, body: body?.toString() }).toEqual(reply);
});

test("a reply that was cut anywhere is not whole", () => {
  fc.assert(
    fc.property(fc.constantFrom(...REPLIES), fc.nat(), (each, number) => {
      const cut = number % each.text.length;
      expect(wholeReply(Buffer.from(each.text.slice(0, cut)))).toBeUndefined();
    }),
  );
});
