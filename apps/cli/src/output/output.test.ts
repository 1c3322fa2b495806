import { describe, expect, test } from "vitest";
import { properties, table } from "./table.ts";
import { distance, when } from "./when.ts";

describe("a table", () => {
  const columns = [
    { title: "NAME", value: ({ name }: { name: string; use: string }) => name },
    { title: "USE", value: ({ use }: { name: string; use: string }) => use },
  ];

  test("aligns its columns and leaves no space at the end", () => {
    const items = [
      { name: "broker", use: "server" },
      { name: "r", use: "" },
    ];
    expect(table(columns, items)).toBe("NAME     USE\nbroker   server\nr\n");
  });

  test("of nothing is nothing", () => {
    expect(table(columns, [])).toBe("");
  });

  test("of properties has one a line", () => {
    expect(
      properties([
        ["Name", "rome"],
        ["Status", "valid"],
      ]),
    ).toBe("Name:     rome\nStatus:   valid\n");
  });
});

describe("a time", () => {
  const now = Date.UTC(2026, 0, 15, 12);
  const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];

  test.each([
    { offset: 0, says: "just now" },
    { offset: 999, says: "just now" },
    { offset: second, says: "in 1 second" },
    { offset: 59 * second, says: "in 59 seconds" },
    { offset: minute, says: "in 1 minute" },
    { offset: -90 * minute, says: "90 minutes ago" },
    { offset: 2 * hour, says: "in 2 hours" },
    { offset: 47 * hour, says: "in 47 hours" },
    { offset: 23 * day, says: "in 23 days" },
    { offset: 365 * day - second, says: "in 365 days" },
    { offset: -3 * day, says: "3 days ago" },
  ])("$offset ms away is $says", ({ offset, says }) => {
    expect(distance(now + offset, now)).toBe(says);
  });

  test("has its date in front", () => {
    expect(when(now + 23 * day, now)).toBe("2026-02-07 (in 23 days)");
  });
});
