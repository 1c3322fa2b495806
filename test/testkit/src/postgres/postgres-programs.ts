import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Where Debian and its relatives put each version. */
const VERSIONS = "/usr/lib/postgresql";
const REQUIRED = "POSTGRES_REQUIRED";

/** The programs of a PostgreSQL server on this machine. */
export type PostgresPrograms =
  | {
      readonly isThere: true;
      readonly pathOf: (program: "initdb" | "postgres" | "psql" | "pg_dump") => string;
    }
  /** `why` also says what to do about it. */
  | { readonly isThere: false; readonly why: string };

/**
 * Tests on a real PostgreSQL run wherever there is one, and are skipped elsewhere, which is said on the standard error.
 * With `POSTGRES_REQUIRED=1` it must be there. `POSTGRES_BIN` names the folder of its programs where it is an unusual one.
 */
export function postgresPrograms(
  env: Readonly<Record<string, string | undefined>> = process.env,
): PostgresPrograms {
  const folder = [env["POSTGRES_BIN"] ?? "", ...debianFolders()].find((each) =>
    existsSync(join(each, "initdb")),
  );
  if (folder !== undefined) return { isThere: true, pathOf: (program) => join(folder, program) };
  const why =
    "there is no PostgreSQL server here; apt-get install -y postgresql, or name its folder in POSTGRES_BIN";
  if (env[REQUIRED] === "1") throw new Error(`${REQUIRED} is set, but ${why}`);
  process.stderr.write(`Tests on a real PostgreSQL are skipped: ${why}\n`);
  return { isThere: false, why };
}

/** The newest first. */
function debianFolders(): string[] {
  if (!existsSync(VERSIONS)) return [];
  const byAge = (a: string, b: string): number => Number(b) - Number(a);
  return readdirSync(VERSIONS)
    .sort(byAge)
    .map((version) => join(VERSIONS, version, "bin"));
}
