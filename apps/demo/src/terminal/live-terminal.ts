import type { Clock } from "@resource-broker/base";
import type { DemoUpdate } from "../updates/update.ts";
import { applyUpdate, emptyModel, type Key, type Model, withKey } from "../view/model.ts";
import { render, type Size, type TerminalFeatures } from "../view/render.ts";
import type { TerminalGuard } from "./guard.ts";
import { keyActionsIn } from "./keys.ts";
import { createScreen } from "./screen.ts";

const USUAL: Size = { columns: 80, rows: 24 };

/** What a terminal is to us: `process.stdin`, `process.stdout` and `process`. */
export interface TerminalPorts {
  readonly input: Pick<NodeJS.ReadStream, "isTTY" | "setRawMode" | "on" | "pause" | "resume" | "setEncoding">;
  readonly output: Pick<NodeJS.WriteStream, "write" | "columns" | "rows" | "on">;
  /** Tells of `exit`, and of `SIGCONT` after the program was put aside. */
  readonly host: Pick<NodeJS.Process, "on">;
  /** Gives the terminal back should this program be killed. */
  readonly guard: () => TerminalGuard;
  /** Puts this program aside, as Ctrl-Z does. */
  readonly suspend: () => void;
}

export interface LiveTerminalOptions {
  readonly names: readonly string[];
  readonly features: TerminalFeatures;
  readonly clock: Clock;
  /** Somebody pressed q or Ctrl-C. */
  readonly onEnd: () => void;
}

/** The live view on a terminal: takes it over, and gives it back however the program ends. */
export function liveTerminal(ports: TerminalPorts, { names, features, clock, onEnd }: LiveTerminalOptions) {
  const { input, output, host } = ports;
  let model: Model = emptyModel(names);
  const screen = createScreen({
    // Synchronous on a terminal, so that it also works while the process exits.
    write: (text) => void output.write(text),
    size: () => ({ columns: output.columns || USUAL.columns, rows: output.rows || USUAL.rows }),
    draw: (size) => render(model, size, features),
    clock,
  });

  const listen = (isOn: boolean): void => {
    if (!input.isTTY) return;
    input.setRawMode(isOn);
    if (isOn) input.resume();
    else input.pause();
  };
  const enter = (): void => {
    listen(true);
    screen.enter();
  };
  const leave = (): void => {
    screen.leave();
    listen(false);
  };
  const press = (key: Key): void => {
    const next = withKey(model, key);
    if (next === model) return;
    model = next;
    screen.redraw();
  };
  const perform = (action: ReturnType<typeof keyActionsIn>[number]): void => {
    if (action === "end") onEnd();
    else if (action === "redraw") screen.redraw();
    else if (action === "suspend") {
      leave();
      ports.suspend();
    } else press(action);
  };

  return {
    start: (): void => {
      const guard = ports.guard();
      host.on("exit", () => {
        leave();
        guard.done();
      });
      host.on("SIGCONT", enter);
      output.on("resize", screen.redraw);
      input.setEncoding("utf8");
      input.on("data", (typed: string) => keyActionsIn(typed).forEach(perform));
      enter();
    },
    update: (update: DemoUpdate): void => {
      model = applyUpdate(model, update);
      screen.changed();
    },
    /** What is printed from now on stays on the screen. */
    stop: leave,
  };
}
