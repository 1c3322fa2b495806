import { parseArgs } from "node:util";
import { tellStory } from "./story.ts";

const HELP = `Usage: npm start [-- --help]

Shows what works today. The agents and their clusters come with the next releases (see
CHANGELOG.md); until then this runs one reservation through the domain, in memory:
nothing is written and no port is opened. The broker itself: see docs/broker.md.

  --help    this text`;

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A closed pipe (npm start | head) is no fault of ours.
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

try {
  const { values } = parseArgs({ options: { help: { type: "boolean", default: false } } });
  console.log(values.help ? HELP : report());
} catch (error) {
  console.error(
    `npm start: ${error instanceof Error ? error.message : String(error)}\nTry: npm start -- --help`,
  );
  process.exitCode = 2;
}

function report(): string {
  return [
    "Resource Broker: clusters lend each other CPU, memory and GPU.",
    "Built so far: the domain, the contract (API, CRDs), the broker and brokerctl (docs/broker.md runs them).",
    "",
    ...tellStory(Date.now()),
    "",
    "Next: npm test runs all tests; README.md shows the way around.",
  ].join("\n");
}
