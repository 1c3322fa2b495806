import { describeProblems, Fault, parsePolicy } from "@resource-broker/contract";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { yamlReader } from "@resource-broker/runtime";

/** The broker's policy file, read before the broker does: what is wrong with it is said in time. */
export async function readPolicy(file: string | undefined): Promise<Policy> {
  if (file === undefined) return DEFAULT_POLICY;
  const content = await yamlReader()(file).catch((cause: unknown) => {
    throw new Fault("invalid", `--policy: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  const parsed = parsePolicy(content);
  if (parsed.ok) return parsed.policy;
  throw new Fault("invalid", `--policy: ${file}: ${describeProblems(parsed.problems)}`);
}
