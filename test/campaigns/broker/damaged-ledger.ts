import { copyFileSync, existsSync, rmSync, statSync, truncateSync } from "node:fs";
import { cp, rename, rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { ledgerFileIn, openForReading, readHeader, type SqliteHeader } from "@resource-broker/broker/testing";
import { EXIT } from "@resource-broker/runtime";
import type { BrokerProcess, SeededRandom } from "@resource-broker/testkit";

/** Each cut is made in the half that the one before has left: much of a log may be of commits that are elsewhere by now. */
const MOST_CUTS = 12;
/** The last commit may not have been acknowledged; the one before it was. */
const FEWEST_LOST = 2;

/** Where a damaged ledger is, and the whole one that it was made from. */
interface Copies {
  readonly damaged: string;
  readonly whole: string;
}

/** Says what was taken away; undefined: nothing that anybody was told, so a broker may start. */
type Damage = (copies: Copies, random: SeededRandom) => string | undefined;

/**
 * Starts a broker that was killed on damaged copies of its ledger: each time it must refuse, and say why. Afterwards the whole ledger is in its place, as if nothing had been.
 */
export async function startOnDamaged(
  broker: BrokerProcess,
  random: SeededRandom,
): Promise<{ readonly damages: readonly string[]; readonly problems: readonly string[] }> {
  const { storeDirectory: damaged } = broker;
  const whole = `${damaged}.whole`;
  const damages: string[] = [];
  const problems: string[] = [];
  await rename(damaged, whole);
  for (const damage of DAMAGES) {
    await cp(whole, damaged, { recursive: true });
    const lost = damage({ damaged, whole }, random);
    if (lost !== undefined) {
      damages.push(lost);
      problems.push(...(await wrongStart(broker, lost)));
    }
    await rm(damaged, { recursive: true });
  }
  await rename(whole, damaged);
  return { damages, problems };
}

async function wrongStart(broker: BrokerProcess, lost: string): Promise<string[]> {
  await broker.launch();
  const isServing = await broker.ready().then(
    () => true,
    () => false,
  );
  await broker.kill("SIGKILL");
  if (isServing) return [`a broker serves from a ledger ${lost}`];
  const code = await broker.ended();
  const last = (await broker.logLines()).at(-1) ?? "";
  return code === EXIT.corrupt && last.startsWith("broker: ")
    ? []
    : [`on a ledger ${lost} a broker ends with ${code}: ${last}`];
}

const DAMAGES: readonly Damage[] = [cutLog, takeRow];

/** A write-ahead log that is cut or gone: SQLite reads the file as it was some commits ago. */
function cutLog({ damaged, whole }: Copies, random: SeededRandom): string | undefined {
  const [log, wholeLog] = [`${ledgerFileIn(damaged)}-wal`, `${ledgerFileIn(whole)}-wal`];
  const before = headerIn(whole);
  if (before === undefined || !existsSync(wholeLog)) return undefined;
  let bytes = statSync(wholeLog).size;
  for (let left = MOST_CUTS; left >= 0; left--) {
    copyFileSync(wholeLog, log);
    bytes = random.below(bytes);
    if (left > 0) truncateSync(log, bytes);
    else rmSync(log);
    const after = headerIn(damaged);
    // Of a young ledger nothing at all may be left.
    const lost = before.commitNumber - (after?.commitNumber ?? 0);
    if (lost >= FEWEST_LOST) return `whose log has lost its last ${lost} commits`;
  }
  return undefined;
}

function takeRow({ damaged }: Copies, random: SeededRandom): string | undefined {
  const database = new DatabaseSync(ledgerFileIn(damaged));
  try {
    const rows = database.prepare("SELECT sequence, id FROM reservation").all();
    const row = random.pick(rows);
    if (row === undefined) return undefined;
    database.prepare("DELETE FROM reservation WHERE sequence = ?").run(Number(row["sequence"]));
    return `without the row of reservation ${String(row["id"])}`;
  } finally {
    database.close();
  }
}

/** Undefined: there is none to read. */
function headerIn(directory: string): SqliteHeader | undefined {
  const database = openForReading(ledgerFileIn(directory));
  try {
    return readHeader(database);
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}
