import type { MachineTime } from "@resource-broker/runtime";

/** So many names are handed on at once, so long apart: comparing a hundred thousand must not hold up the engine. */
const SLICE = 100;
const PAUSE_MS = 5;

/** Names that are worth a look. One that waits already is not noted again, so it never outgrows what there is. */
export interface Attention {
  readonly notice: (name: string) => void;
  readonly stop: () => void;
}

export function attention(look: (name: string) => void, machine: Pick<MachineTime, "after">): Attention {
  const names = new Set<string>();
  let cancel: (() => void) | undefined;
  const hand = (): void => {
    let left = SLICE;
    for (const name of names) {
      if (left-- === 0) break;
      names.delete(name);
      look(name);
    }
    cancel = names.size === 0 ? undefined : machine.after(PAUSE_MS, hand);
  };
  return {
    notice: (name) => {
      names.add(name);
      cancel ??= machine.after(0, hand);
    },
    stop: () => {
      cancel?.();
      cancel = () => undefined;
      names.clear();
    },
  };
}
