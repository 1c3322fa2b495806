import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { helpText } from "@resource-broker/contract";
import manifest from "../package.json" with { type: "json" };
import { createBroker } from "./app.ts";
import { describeFailure, EXIT, exitCodeOf, STOP_WITHIN_MS } from "./exit.ts";
import { createLog, logOptions } from "./log/create-log.ts";
import { BROKER_ENV_PREFIX, BROKER_SETTINGS, type BrokerSettings } from "./settings/broker-settings.ts";
import { readSettings } from "./settings/read-settings.ts";
import { yamlReader } from "./settings/read-yaml.ts";

const SUMMARY = `Runs the broker: clusters advertise and reserve over mTLS, and no answer is given before it is durable.`;

const readYaml = yamlReader();
const reading = await readSettings({ argv: process.argv.slice(2), env: process.env, readFile: readYaml });
if (!reading.ok) end(EXIT.usage, ...reading.problems);
else if (reading.settings.help)
  console.log(
    helpText(BROKER_SETTINGS, { usage: "broker [flags]", summary: SUMMARY, envPrefix: BROKER_ENV_PREFIX }),
  );
else if (reading.settings.version) console.log(manifest.version);
else await run(reading.settings, reading.warnings);

async function run(settings: BrokerSettings, warnings: readonly string[]): Promise<void> {
  const terminal = { isTerminal: process.stdout.isTTY, noColour: process.env["NO_COLOR"] !== undefined };
  const log = createLog(logOptions(settings, terminal), process.stdout);
  for (const warning of warnings) log.warn({}, warning);
  const broker = createBroker(settings, {
    machine: { wallMs: Date.now, monotonicMs: () => performance.now(), after },
    defer: setImmediate,
    randomBytes,
    readYaml,
    openApi: await readFile(new URL(import.meta.resolve("@resource-broker/contract/openapi.json")), "utf8"),
    log,
    onFatal: (failure) => end(EXIT.corrupt, failure.message),
  });
  const started = broker.start();
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return; // a terminal and npm both pass Ctrl-C on
    isStopping = true;
    setTimeout(() => end(EXIT.failure, "did not stop in time"), STOP_WITHIN_MS).unref();
    started.then(broker.stop).catch((error: unknown) => end(exitCodeOf(error), describeFailure(error)));
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, stop);
  await started.catch((error: unknown) => end(exitCodeOf(error), describeFailure(error)));
}

function after(delayMs: number, action: () => void): () => void {
  const timer = setTimeout(action, delayMs);
  return () => clearTimeout(timer);
}

function end(code: number, ...problems: readonly string[]): never {
  console.error(problems.map((problem) => `broker: ${problem}`).join("\n"));
  process.exit(code);
}
