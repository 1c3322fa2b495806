import { randomBytes } from "node:crypto";
import { helpText, safeText } from "@resource-broker/base";
import {
  createLog,
  EXIT,
  logOptions,
  runUntilSignal,
  systemClock,
  yamlReader,
} from "@resource-broker/runtime";
import manifest from "../package.json" with { type: "json" };
import { createAgent } from "./app.ts";
import { describeEnd, exitCodeOf } from "./exit.ts";
import { AGENT_ENV_PREFIX, AGENT_SETTINGS, type AgentSettings } from "./settings/agent-settings.ts";
import { readAgentSettings } from "./settings/read-agent-settings.ts";

const SUMMARY = `Runs the agent of one cluster: advertises what the cluster can lend, requests from the broker what ResourceRequests\nneed, and acts on the instructions of both sides.`;

const readYaml = yamlReader();
const reading = await readAgentSettings({
  argv: process.argv.slice(2),
  env: process.env,
  readFile: readYaml,
});
if (!reading.ok) end(EXIT.usage, ...reading.problems);
else if (reading.settings.help)
  console.log(
    helpText(AGENT_SETTINGS, { usage: "agent [flags]", summary: SUMMARY, envPrefix: AGENT_ENV_PREFIX }),
  );
else if (reading.settings.version) console.log(manifest.version);
else await run(reading.settings, reading.warnings);

async function run(settings: AgentSettings, warnings: readonly string[]): Promise<void> {
  const terminal = { isTerminal: process.stdout.isTTY, noColour: process.env["NO_COLOR"] !== undefined };
  const log = createLog(logOptions(settings, terminal), process.stdout);
  for (const warning of warnings) log.warn({}, warning);
  const agent = createAgent(settings, {
    clock: systemClock(Date.now),
    random: Math.random,
    randomBytes,
    env: process.env,
    log,
    onFatal: (error) => end(exitCodeOf(error), describeEnd(error)),
  });
  await runUntilSignal(agent, {
    signals: process,
    unrefTimeout: (delayMs, action) => setTimeout(action, delayMs).unref(),
    exit: end,
    exitCodeOf,
    describe: describeEnd,
  });
}

function end(code: number, ...problems: readonly string[]): never {
  console.error(safeText(problems.map((problem) => `agent: ${problem}`).join("\n")));
  process.exit(code);
}
