import { ledgerFileIn, openForReading } from "../store/sqlite/database.ts";

/** The clusters whose advertisements are in the file of a broker, which may be running: it writes them a moment later. */
export function advertisedIn(directory: string): string[] {
  const database = openForReading(ledgerFileIn(directory));
  try {
    return database
      .prepare("SELECT cluster_id FROM advertisement")
      .all()
      .map(({ cluster_id }) => String(cluster_id));
  } finally {
    database.close();
  }
}
