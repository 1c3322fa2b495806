import { settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { begin, finish, type Session, type StatementResult } from "./session.ts";

const WRITE = { text: "INSERT" };
const done = (command: string): StatementResult => ({ rows: [], count: 1, command });
const refused = (code: string): Error =>
  Object.assign(new Error(`refused ${code}`), { severity: "ERROR", code });
const UNKNOWN = { kind: "unknown" };
const broken = new Error("Connection terminated unexpectedly");

/** Answers each statement as planned, one after the other, as a connection does. */
function answering(plan: Readonly<Record<string, StatementResult | Error>>): Session {
  let last = Promise.resolve();
  return {
    send: ({ text }) => {
      const answer = plan[text] ?? done(text);
      last = last.then(settle);
      return last.then(() => {
        if (answer instanceof Error) throw answer;
        return answer;
      });
    },
    isUsable: () => true,
    destroy: () => undefined,
    close: () => Promise.resolve(),
  };
}

describe("the end of a transaction", () => {
  test("is its COMMIT", async () => {
    await expect(finish(answering({}), [WRITE])).resolves.toBeUndefined();
  });

  test.each([
    [
      "a write was refused, and the database undid the rest",
      { INSERT: refused("53100"), COMMIT: done("ROLLBACK") },
      { message: "refused 53100" },
    ],
    [
      "a write was refused, and then the connection broke: nothing of it can be there",
      { INSERT: refused("57P01"), COMMIT: broken },
      { message: "refused 57P01" },
    ],
    ["the COMMIT got in the way of another", { COMMIT: refused("40001") }, { message: "refused 40001" }],
    ["the connection broke, and the COMMIT may have arrived", { INSERT: broken, COMMIT: broken }, UNKNOWN],
    ["the answer to the COMMIT is missing", { COMMIT: broken }, { ...UNKNOWN, cause: broken }],
    ["the database was shut down during the COMMIT", { COMMIT: refused("57P01") }, UNKNOWN],
    ["the database itself does not know", { COMMIT: refused("40003") }, UNKNOWN],
    [
      "it was rolled back without a word",
      { COMMIT: done("ROLLBACK") },
      { message: "the transaction was rolled back" },
    ],
  ])("is told for what it is when %s", async (_, plan, fails) => {
    await expect(finish(answering(plan), [WRITE, WRITE])).rejects.toMatchObject(fails);
  });
});

test("the beginning of a transaction fails with its first failure, and the others are not forgotten", async () => {
  const session = answering({ UPDATE: refused("40P01"), SELECT: refused("25P02") });
  await expect(begin(session, [{ text: "UPDATE" }, { text: "SELECT" }])).rejects.toThrow("refused 40P01");
});
