import { once } from "node:events";
import { createServer } from "node:net";
import { Fault } from "@resource-broker/contract";

const HOST = "127.0.0.1";

/** Throws a Fault that names the flag when the broker could not listen there. */
export async function checkPort(port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, HOST);
    await once(server, "listening");
  } catch (error) {
    throw new Fault("conflict", `--port: ${problemWith(port, error)}`, { cause: error });
  }
  server.close();
  await once(server, "close");
}

function problemWith(port: number, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return `another process listens on ${HOST}:${port}; stop it, choose another port, or leave --port out`;
  if (code === "EACCES") return `${port} may not be used by this account; choose one above 1023`;
  return `${HOST}:${port} cannot be used: ${error instanceof Error ? error.message : String(error)}`;
}
