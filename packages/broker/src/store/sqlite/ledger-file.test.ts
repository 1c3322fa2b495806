import { join } from "node:path";
import {
  DatabaseSync,
  type SQLInputValue,
  type StatementResultingChanges,
  type StatementSync,
} from "node:sqlite";
import type { LedgerEvent } from "@resource-broker/domain";
import { describe, expect, it } from "vitest";
import { DEFAULT_RETENTION } from "../store.ts";
import { Grants } from "../common/testing/grants.ts";
import { temporaryDirectory } from "../common/testing/temporary-directory.ts";
import { ledgerFile } from "./ledger-file.ts";
import { migrate } from "./schema.ts";

/** What a statement does once, instead of what it should. */
interface Accident {
  readonly statement: RegExp;
  /** Whether its work was done before the error came. */
  readonly isDone: boolean;
}

/** A real database whose statements go wrong as planned, like one on a failing disk. */
function failingDatabase(accidents: Accident[]): DatabaseSync {
  class Failing extends DatabaseSync {
    override prepare(sql: string): StatementSync {
      const statement = super.prepare(sql);
      const run = statement.run.bind(statement) as (
        ...parameters: SQLInputValue[]
      ) => StatementResultingChanges;
      const get = statement.get.bind(statement) as (
        ...parameters: SQLInputValue[]
      ) => ReturnType<typeof statement.get>;
      statement.run = ((...parameters: SQLInputValue[]) =>
        perhaps(sql, () => run(...parameters))) as typeof statement.run;
      statement.get = ((...parameters: SQLInputValue[]) =>
        perhaps(sql, () => get(...parameters))) as typeof statement.get;
      return statement;
    }
  }
  const perhaps = <T>(sql: string, work: () => T): T => {
    const [accident] = accidents;
    if (accident === undefined || !accident.statement.test(sql)) return work();
    accidents.shift();
    if (accident.isDone) work();
    throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
  };
  return new Failing(join(temporaryDirectory(), "ledger.db"));
}

describe("a commit that ends with an error", () => {
  const COMMIT = /^COMMIT$/;
  const READ_HEADER = /FROM ledger WHERE one = 1$/;

  function opened() {
    const accidents: Accident[] = [];
    const database = failingDatabase(accidents);
    migrate(database, "ledger.db");
    const ledger = ledgerFile(database, "ledger.db", { retention: DEFAULT_RETENTION });
    ledger.read();
    return { ledger, database, accidents, grants: new Grants() };
  }

  it("counts when the file has it all the same", () => {
    const { ledger, accidents, grants } = opened();
    accidents.push({ statement: COMMIT, isDone: true });
    ledger.commit(grants.next());
    ledger.commit(grants.next());
    expect(ledger.lastCommit()).toBe(2);
  });

  it("is surely not committed when the file has nothing of it, and can be tried again", () => {
    const { ledger, accidents, grants } = opened();
    const batch = grants.next();
    accidents.push({ statement: COMMIT, isDone: false });
    expect(() => ledger.commit(batch)).toThrow(expect.objectContaining({ kind: "not-committed" }));
    ledger.commit(batch);
    expect(ledger.lastCommit()).toBe(1);
  });

  it.each([
    { name: "committed", isDone: true, last: 1 },
    { name: "not committed", isDone: false, last: 0 },
  ])("is unknown when the file cannot be asked, and settled by asking again: $name", ({ isDone, last }) => {
    const { ledger, accidents, grants } = opened();
    const batch = grants.next();
    accidents.push({ statement: COMMIT, isDone }, { statement: READ_HEADER, isDone: false });
    expect(() => ledger.commit(batch)).toThrow(expect.objectContaining({ kind: "unknown" }));
    expect(ledger.lastCommit()).toBe(last);
    if (last === 0) ledger.commit(batch);

    // Where each reservation lies must be known again, whichever way it went.
    const [id = ""] = grants.story.ledger.reservations.keys();
    const release = grants.story.batch({ kind: "release", by: { clusterId: "rome", isAdmin: false }, id });
    if (release === undefined) throw new Error("it was live");
    ledger.commit(release);
    expect(ledger.lastCommit()).toBe(2);
  });

  it("is undone before the next one, even when nobody asked", () => {
    const { ledger, accidents, grants } = opened();
    const batch = grants.next();
    accidents.push({ statement: COMMIT, isDone: false }, { statement: READ_HEADER, isDone: false });
    expect(() => ledger.commit(batch)).toThrow(expect.objectContaining({ kind: "unknown" }));
    ledger.commit(batch);
    expect(ledger.lastCommit()).toBe(1);
  });

  it("is refused when another program has written meanwhile", () => {
    const { ledger, database, grants } = opened();
    database.exec("UPDATE ledger SET commit_number = 7");
    expect(() => ledger.commit(grants.next())).toThrow(expect.objectContaining({ kind: "corrupt" }));
    expect(database.prepare("SELECT id FROM reservation").all()).toEqual([]);
  });

  it("leaves the reservations where they were", () => {
    const { ledger, accidents, grants } = opened();
    ledger.commit(grants.next());
    const [id = ""] = grants.story.ledger.reservations.keys();
    const { now } = grants.story;
    const about = (event: LedgerEvent) => ({
      number: 2,
      at: now,
      entries: [{ by: "rome", action: "test", events: [event] }],
    });
    accidents.push({ statement: COMMIT, isDone: false });
    expect(() => ledger.commit(about({ kind: "forgotten", at: now, id }))).toThrow("disk");
    ledger.commit(about({ kind: "activated", at: now, id }));
    expect(ledger.lastCommit()).toBe(2);
  });
});

describe("a ledger that is opened again", () => {
  it("gives a new reservation a row of its own, where earlier ones were forgotten", () => {
    const database = new DatabaseSync(join(temporaryDirectory(), "ledger.db"));
    migrate(database, "ledger.db");
    const open = () => {
      const ledger = ledgerFile(database, "ledger.db", { retention: DEFAULT_RETENTION });
      ledger.read();
      return ledger;
    };
    const grants = new Grants();
    const ledger = open();
    for (let made = 0; made < 3; made++) ledger.commit(grants.next());
    const [id = ""] = grants.story.ledger.reservations.keys();
    const { now: at } = grants.story;
    const events: LedgerEvent[] = [{ kind: "forgotten", at, id }];
    ledger.commit({ number: 4, at, entries: [{ by: "rome", action: "test", events }] });
    open().commit({ ...grants.next(), number: 5 });
    open();
    const ids = database
      .prepare("SELECT id FROM reservation")
      .all()
      .map(({ id: stored }) => String(stored));
    expect(ids.toSorted()).toEqual([...grants.story.ledger.reservations.keys()].slice(1).toSorted());
  });
});
