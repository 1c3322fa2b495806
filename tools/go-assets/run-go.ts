import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";

/** `go list` and `go build` must agree on these: they decide what Go's own cache can be used for. */
export const COMPILE_FLAGS: readonly string[] = ["-trimpath", "-buildvcs=false"];
export const BUILD_ENV: Readonly<Record<string, string>> = { CGO_ENABLED: "0", GOWORK: "off" };

export interface GoCall {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Called with each piece of what Go writes to its standard error. */
  readonly onErrorText: (text: string) => void;
}

export function isGoMissing(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && error.code === "ENOENT" && error.message.includes("spawn go")
  );
}

/** Runs Go below everything else on the machine; returns its exit code and output. A signal lets it end what it is at. */
export function runGo({ args, cwd, signal, onErrorText }: GoCall): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const go = spawn("go", args, {
      cwd,
      env: { ...process.env, ...BUILD_ENV },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const stop = (): void => void go.kill("SIGTERM");
    signal.addEventListener("abort", stop, { once: true });
    go.once("spawn", () => {
      if (go.pid !== undefined) setPriority(go.pid, constants.priority.PRIORITY_LOW);
      if (signal.aborted) stop();
    });
    go.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    go.stderr.setEncoding("utf8").on("data", onErrorText);
    go.once("error", reject);
    go.once("close", (code) => {
      signal.removeEventListener("abort", stop);
      resolve({ code: code ?? 1, output });
    });
  });
}
