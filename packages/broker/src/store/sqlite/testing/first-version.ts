import { DatabaseSync } from "node:sqlite";
import { sealOf } from "../../common/seals.ts";

/** Makes of a ledger what the first version would have left. */
export function asFirstVersion(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(
    "DROP TABLE adoption; DROP TABLE member; DROP TABLE waiting; DROP TABLE closed_day; ALTER TABLE ledger DROP COLUMN sums; DELETE FROM migration WHERE number > 1",
  );
  const { one: _, seal: __, ...header } = { ...database.prepare("SELECT * FROM ledger").get() };
  database.prepare("UPDATE ledger SET seal = ?").run(sealOf("ledger", Object.values(header) as string[]));
  database.close();
}
