import { flagsPage } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { EVENT_REASONS } from "./events/record-event.ts";
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
  const page = flagsPage({
    title: "Flags of the agent",
    about: [
      "Beside these variables the agent reads `KUBECONFIG`, `POD_NAMESPACE`, and what Kubernetes tells every pod. Flags of",
      "the Go agent that mean nothing any more (`--zap-*`, `--webhook-cert-*`, `--enable-http2`) are taken with a warning.",
    ],
    settings: AGENT_SETTINGS,
    environmentPrefix: AGENT_ENV_PREFIX,
  });
  await expect(page).toMatchFileSnapshot(`${FOLDER}/agent-flags.md`);
});
