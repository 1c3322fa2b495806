import type { RealControlPlane } from "@resource-broker/testkit";

/** Runs a line as somebody would type it; what it prints. Throws what it complains about. */
export async function kubectl(plane: RealControlPlane, line: string): Promise<string> {
  const { exitCode, stdout, stderr } = await plane.kubectl(line.split(" "));
  if (exitCode !== 0) throw new Error(`kubectl ${line}: ${stderr}`);
  return stdout;
}
