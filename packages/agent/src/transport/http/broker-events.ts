import {
  describeProblems,
  EVENT_SCHEMAS,
  type EventName,
  type Schema,
  validate,
} from "@resource-broker/contract";
import type { Log } from "@resource-broker/runtime";
import type { BrokerEvent } from "../broker-communicator.ts";
import type { EventBlock } from "./event-parser.ts";

interface Named {
  readonly name: EventName;
  readonly data: string;
}

/**
 * The event of a block. Undefined: unknown or unreadable. It is skipped; the next resync has what it contained.
 */
export function eventIn({ name, data }: EventBlock, log: Log): BrokerEvent | undefined {
  if (data === undefined) return { kind: "heartbeat" };
  switch (name) {
    case "instruction":
    case "reservation": {
      const reservation = read(EVENT_SCHEMAS[name], { name, data }, log);
      return reservation && { kind: name, reservation };
    }
    case "capacity": {
      const capacity = read(EVENT_SCHEMAS.capacity, { name, data }, log);
      return capacity && { kind: name, capacity };
    }
    case "reset": {
      const reset = read(EVENT_SCHEMAS.reset, { name, data }, log);
      return reset && { kind: name, reset };
    }
    default:
      return undefined;
  }
}

function read<T>(schema: Schema<T>, { name, data }: Named, log: Log): T | undefined {
  const validated = validate(schema, parseJson(data));
  if (validated.ok) return validated.value;
  const problem = describeProblems(validated.problems);
  log.warn({ event: name, problem }, "an event that cannot be read is left out");
  return undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
