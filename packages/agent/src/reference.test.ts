import { environmentName, type Setting } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { EVENT_REASONS } from "./events/reasons.ts";
import { AGENT_ENV_PREFIX, AGENT_SETTINGS } from "./settings/agent-settings.ts";

/** Written anew with `vitest run packages/agent/src/reference.test.ts -u`. */

const FOLDER = "../../../docs/reference";

test("the documented events are those that the agent writes", async () => {
  const rows = Object.entries(EVENT_REASONS).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |`);
  const page = [
    "# Events of the agent",
    "",
    "What an agent writes under `kubectl describe` of ResourceRequests and instructions. A test compares this table with",
    "the code.",
    "",
    "| Reason | Meaning |",
    "|---|---|",
    ...rows,
    "",
  ].join("\n");
  await expect(page).toMatchFileSnapshot(`${FOLDER}/agent-events.md`);
});

test("the documented flags are those that the agent knows", async () => {
  const rows = Object.entries(AGENT_SETTINGS).map(([name, setting]) => flagRow(name, setting));
  const page = [
    "# Flags of the agent",
    "",
    "Each flag can also be set in the environment or by its name in the file of `--config`; a flag wins over the",
    "environment, the environment over the file. Durations are written as in Go (`90s`, `1h30m`), lists with commas.",
    "Beside these variables the agent reads `KUBECONFIG`, `POD_NAMESPACE`, and what Kubernetes tells every pod. Flags of",
    "the Go agent that mean nothing any more (`--zap-*`, `--webhook-cert-*`, `--enable-http2`) are taken with a warning.",
    "A test compares this table with the code.",
    "",
    "| Flag | Default | Environment | Meaning |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
  await expect(page).toMatchFileSnapshot(`${FOLDER}/agent-flags.md`);
});

function flagRow(name: string, setting: Setting<unknown>): string {
  const value = setting.placeholder === "" ? "" : `=${setting.placeholder.replaceAll("|", "\\|")}`;
  const given = setting.defaultText === "" ? "" : `\`${setting.defaultText}\``;
  const variable = environmentName(name, AGENT_ENV_PREFIX);
  return `| \`--${name}${value}\` | ${given} | \`${variable}\` | ${setting.description} |`;
}
