import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** True where a shell would find it. */
export async function findProgram(name: string, searchPath: string): Promise<boolean> {
  const folders = searchPath.split(delimiter).filter((folder) => folder !== "");
  const tries = folders.map((folder) => access(join(folder, name), constants.X_OK));
  return (await Promise.allSettled(tries)).some(({ status }) => status === "fulfilled");
}
