import { Fault } from "@resource-broker/base";
import { readText } from "@resource-broker/runtime";

/** The text of a file that somebody named; says who did when it cannot be read. */
export async function readTextFile(path: string, namedBy: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new Fault("invalid", `cannot read ${path} (${namedBy}): ${reasonOf(error)}`, { cause: error });
  }
}

/** Undefined where there is no such file. */
export async function readIfThere(path: string, namedBy: string): Promise<string | undefined> {
  try {
    return await readTextFile(path, namedBy);
  } catch (error) {
    const { cause } = error instanceof Fault ? error : {};
    if (codeOf(cause) === "ENOENT" || codeOf(cause) === "ENOTDIR") return undefined;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return "there is no such file: correct the path";
    case "EACCES":
    case "EPERM":
      return "permission denied: change its owner or mode";
    case "EISDIR":
      return "it is a folder: name a file in it";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
