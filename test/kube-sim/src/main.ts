import { randomBytes } from "node:crypto";
import { Fault } from "@resource-broker/base";
import { describeFailure, EXIT, runUntilSignal, systemClock } from "@resource-broker/runtime";
import { StatusError } from "./api/statuses.ts";
import { readFlags, USAGE } from "./standalone/flags.ts";
import { runClusters } from "./standalone/run-clusters.ts";

const reading = readFlags(process.argv.slice(2));
switch (reading.kind) {
  case "help":
    console.log(USAGE);
    break;
  case "wrong":
    end(EXIT.usage, `${reading.problem}; --help shows how`);
    break;
  case "run": {
    const deps = { clock: systemClock(Date.now), randomBytes, say: console.log };
    await runUntilSignal(runClusters(reading.flags, deps), {
      signals: process,
      unrefTimeout: (delayMs, action) => setTimeout(action, delayMs).unref(),
      exit: end,
      // A file that is not there, or an object that is refused, was named by a flag.
      exitCodeOf: (error) =>
        error instanceof Fault || error instanceof StatusError ? EXIT.usage : EXIT.failure,
      describe: (error) => describeFailure(error, ["port"]),
    });
  }
}

function end(code: number, problem: string): void {
  console.error(`kube-sim: ${problem}`);
  process.exit(code);
}
