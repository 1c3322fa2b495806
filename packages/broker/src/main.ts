import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { helpText, safeText } from "@resource-broker/base";
import {
  createLog,
  describeFailure,
  EXIT,
  logOptions,
  runUntilSignal,
  systemClock,
  yamlReader,
} from "@resource-broker/runtime";
import manifest from "../package.json" with { type: "json" };
import { createBroker } from "./app.ts";
import { exitCodeOf, PORT_FLAGS } from "./exit.ts";
import { BROKER_ENV_PREFIX, BROKER_SETTINGS, type BrokerSettings } from "./settings/broker-settings.ts";
import { readBrokerSettings } from "./settings/read-settings.ts";

const SUMMARY = `Runs the broker: clusters advertise and reserve over mTLS, and no answer is given before it is durable.`;

const readYaml = yamlReader();
const { argv, env } = process;
const reading = await readBrokerSettings({ argv: argv.slice(2), env, readFile: readYaml });
if (!reading.ok) end(EXIT.usage, ...reading.problems);
else if (reading.settings.help)
  console.log(
    helpText(BROKER_SETTINGS, { usage: "broker [flags]", summary: SUMMARY, envPrefix: BROKER_ENV_PREFIX }),
  );
else if (reading.settings.version) console.log(manifest.version);
else await run(reading.settings, reading.warnings);

async function run(settings: BrokerSettings, warnings: readonly string[]): Promise<void> {
  const terminal = { isTerminal: process.stdout.isTTY, noColour: env["NO_COLOR"] !== undefined };
  const log = createLog(logOptions(settings, terminal), process.stdout);
  for (const warning of warnings) log.warn({}, warning);
  const broker = createBroker(settings, {
    clock: systemClock(Date.now),
    defer: setImmediate,
    randomBytes,
    random: Math.random,
    env,
    readYaml,
    openApi: await readFile(new URL(import.meta.resolve("@resource-broker/contract/openapi.json")), "utf8"),
    version: manifest.version,
    log,
    onFatal: (failure) => end(exitCodeOf(failure), failure.message),
  });
  await runUntilSignal(broker, {
    signals: process,
    unrefTimeout: (delayMs, action) => setTimeout(action, delayMs).unref(),
    exit: end,
    exitCodeOf,
    describe: (error) => describeFailure(error, PORT_FLAGS),
  });
}

function end(code: number, ...problems: readonly string[]): never {
  console.error(safeText(problems.map((problem) => `broker: ${problem}`).join("\n")));
  process.exit(code);
}
