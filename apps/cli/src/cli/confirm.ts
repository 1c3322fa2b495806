import type { Host } from "./command.ts";
import { CommandError } from "./exit-code.ts";

/** Goes on only if a person says yes; `isSure`: they have said so with --yes. */
export async function confirm(question: string, isSure: boolean, host: Host): Promise<void> {
  if (isSure) return;
  const answer = await host.ask?.(`${question} [y/N] `);
  if (answer === undefined)
    throw new CommandError("usage", `${question} There is no terminal to ask at: repeat it with --yes`);
  if (!/^y(es)?$/iu.test(answer)) throw new CommandError("error", "nothing was changed");
}
