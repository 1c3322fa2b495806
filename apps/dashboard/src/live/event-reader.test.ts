import { expect, test } from "vitest";
import { createEventReader } from "./event-reader.ts";

test("an event that comes in pieces is read once it is whole", () => {
  const read = createEventReader();
  expect(read("event: hel")).toEqual([]);
  expect(read('lo\nid: 7\ndata: {"a"')).toEqual([]);
  expect(read(":1}\n\n")).toEqual([{ event: "hello", id: "7", data: '{"a":1}' }]);
});

test("comments and other fields are no events", () => {
  const read = createEventReader();
  expect(read(": still here\n\nretry: 1000\n\n")).toEqual([]);
});

test("several lines of data are one text, and line ends of Windows are line ends", () => {
  const read = createEventReader();
  expect(read("data: one\r\ndata: two\r\n\r\n")).toEqual([{ event: "message", id: null, data: "one\ntwo" }]);
});
