import { readAgentSettings } from "@resource-broker/agent";
import { readBrokerSettings } from "@resource-broker/broker/testing";
import { argumentsOf, type Container } from "./objects.ts";

const noFile = (): Promise<never> => Promise.reject(new Error("no file is read"));

/** What the container's program says of its flags and variables: problems and warnings. `env` comes from elsewhere. */
export async function complaintsOf(
  container: Container,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const own = (container.env ?? []).map(
    ({ name, value = `the-${name.toLowerCase().replaceAll("_", "-")}` }) => [name, value],
  );
  const variables = { ...env, ...(Object.fromEntries(own) as Record<string, string>) };
  const input = { argv: argumentsOf(container), env: variables, readFile: noFile };
  const reading = await (container.name === "broker" ? readBrokerSettings(input) : readAgentSettings(input));
  return reading.ok ? reading.warnings : reading.problems;
}
